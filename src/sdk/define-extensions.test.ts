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
  expect(definition).toMatchObject({ type: 'extensions', description: { name: 'DiskExtensions' } });
  const next = async (): Promise<undefined> => await Promise.resolve(undefined);
  await definition.methods['modifyManifest']?.({ args: [{ a: 1 }, 'v1'], next, log, signal });
  expect(seen).toEqual([10, { a: 1 }, next, 'v1', log]);
});

test('a plain object will do, and methods that are no point are not called', () => {
  const host = { onSuccess: () => undefined, other: () => undefined };
  const { methods, description } = defineExtensions(host);
  expect(Object.keys(methods)).toEqual(['onSuccess']);
  expect(description).toEqual({ name: '' });
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
