import { expect, test } from 'vitest';
import { defineExtensions } from './define-extensions.ts';
import type { DeployError, ErrorClassifier } from './extension-points.ts';
import { errorDetails } from './extension-results.ts';
import { hookLog } from './hook-log.ts';

const log = hookLog(() => undefined);
const { signal } = new AbortController();

test('methods are called with input, next, apiVersion and log, on their host', async () => {
  const seen: unknown[] = [];
  class DiskExtensions {
    readonly size = 10;
    modifyManifest(...args: readonly unknown[]): never {
      seen.push(this.size, ...args);
      return args[0] as never;
    }
  }
  const definition = defineExtensions(new DiskExtensions());
  expect(definition).toMatchObject({
    type: 'extensions',
    description: { name: 'DiskExtensions', unused: [] },
  });
  const next = async (): Promise<undefined> => await Promise.resolve(undefined);
  await definition.methods['modifyManifest']?.({ args: [{ a: 1 }, 'v1'], next, log, signal });
  expect(seen).toEqual([10, { a: 1 }, next, 'v1', log]);
});

test('a plain object will do, and methods that are no point are not called', () => {
  const host = { onSuccess: () => undefined, other: () => undefined };
  const { methods, description } = defineExtensions(host);
  expect(Object.keys(methods)).toEqual(['onSuccess']);
  expect(description).toEqual({ name: '', unused: ['other'] });
});

test('defineExtensions() describes members that are not called, own and inherited, without calling getters', () => {
  class Base {
    onSucess(): void {}
  }
  class Host extends Base {
    readonly helper = () => undefined;
    readonly size = 10;
    readonly delete = 'not a function';
    get broken(): never {
      throw new Error('called');
    }
    onSuccess(): void {}
  }
  const { description, methods } = defineExtensions(new Host() as never);
  expect(Object.keys(methods)).toEqual(['onSuccess']);
  expect(description).toEqual({ name: 'Host', unused: ['helper', 'delete', 'onSucess'] });
});

test('defineExtensions() names the method that was probably meant, when an object has none that is called', () => {
  const misspelt = { modifyManifests: () => undefined, onSucess: () => undefined, helper: () => undefined };
  expect(() => defineExtensions(misspelt as never)).toThrow(
    /onSuccess; it has modifyManifests \(did you mean "modifyManifest"\?\), onSucess \(did you mean "onSuccess"\?\)$/,
  );
});

test('a host is frozen', () => {
  const host = { onSuccess: () => undefined, seen: [] };
  defineExtensions(host);
  expect([Object.isFrozen(host), Object.isFrozen(host.seen)]).toEqual([true, true]);
});

test('a class that claims a point has to have its method, with these parameters', () => {
  // @ts-expect-error -- the method is missing
  class WithoutMethod implements ErrorClassifier {
    readonly size = 10;
  }
  class WithAnother implements ErrorClassifier {
    // @ts-expect-error -- it does not return details
    classifyError(error: DeployError): string {
      return error.reason;
    }
  }
  class Right implements ErrorClassifier {
    classifyError({ reason, message }: DeployError) {
      return errorDetails('retryable', reason, message);
    }
  }
  expect(() => defineExtensions(new WithoutMethod() as never)).toThrow(
    'defineExtensions(): WithoutMethod has none of the methods classifyError, modifyManifest,',
  );
  expect(Object.keys(defineExtensions(new Right()).methods)).toEqual(['classifyError']);
  expect(WithAnother.name).toBe('WithAnother');
});
