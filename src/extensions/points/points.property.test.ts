import { silentLogger } from '@addon-operator/base/log';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { block, errorDetails, notReady, proceed, ready } from '@addon-operator/sdk';
import type { PointMethod } from '@addon-operator/sdk/host';
import {
  assert,
  asyncProperty,
  constantFrom,
  dictionary,
  integer,
  jsonValue,
  option,
  record,
  string,
} from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDeleter,
  createErrorClassifier,
  createManifestModifier,
  createPostReconcileChecker,
  createPreReconcileChecker,
  createSuccessHandler,
} from './object-points.ts';
import type { Point, PointHost } from './point.ts';

const signal = new AbortController().signal;

/** An extension that asks for the default behaviour, and does nothing else. */
function onlyNext(method: PointMethod): PointHost {
  // What an extension gets and gives travels as JSON.
  return {
    name: 'onlyNext',
    [method]: async (input: unknown, next: (input: unknown) => Promise<unknown>) =>
      copy(await next(copy(input))),
  };
}

function copy(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

const text = string({ minLength: 1, maxLength: 20 });
const object = record({
  apiVersion: constantFrom('v1', 'apps/v1', 'example.com/v1beta2'),
  kind: text,
  metadata: record({ name: text, namespace: text, labels: dictionary(text, text) }),
  spec: jsonValue(),
}).map((value): KubeObject => copy(value) as KubeObject);

/** The outcome of the point with an extension, and the number of requests for the default, which gives `result`. */
async function runOf<Input, Result>(
  point: Point<Input, Result>,
  input: Input,
  result: Result,
): Promise<{ readonly given: Result; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const next = async (one: Input): Promise<Result> => {
    asked.push(copy(one));
    return await Promise.resolve(result);
  };
  return { given: await point(input, next, 'v1', silentLogger, signal), asked };
}

async function expectSame<Input, Result>(
  create: (host: PointHost | undefined) => Point<Input, Result>,
  method: PointMethod,
  input: Input,
  result: Result,
): Promise<void> {
  const extended = await runOf(create(onlyNext(method)), input, result);
  expect(extended).toEqual(await runOf(create(undefined), input, result));
}

test('an ErrorClassifier that only calls next changes nothing', async () => {
  const errors = record({
    code: text,
    status: option(integer({ min: 400, max: 599 })),
    reason: text,
    message: text,
    object,
  });
  const results = record({
    classification: constantFrom('retryable' as const, 'fatal' as const),
    code: text,
    message: text,
  });
  await assert(
    asyncProperty(errors, results, async (error, { classification, code, message }) => {
      const result = errorDetails(classification, code, message);
      await expectSame(createErrorClassifier, 'classifyError', error, result);
    }),
  );
});

test('a ManifestModifier that only calls next changes nothing', async () => {
  await assert(
    asyncProperty(object, async (one) => {
      await expectSame(createManifestModifier, 'modifyManifest', one, one);
    }),
  );
});

test('a PreReconcileChecker that only calls next changes nothing', async () => {
  const results = record({ isFree: constantFrom(true, false), reason: text, ms: integer({ min: 1 }) });
  await assert(
    asyncProperty(object, results, async (one, { isFree, reason, ms }) => {
      const result = isFree ? proceed() : block(reason, ms);
      await expectSame(createPreReconcileChecker, 'preReconcileCheck', one, result);
    }),
  );
});

test('a PostReconcileChecker that only calls next changes nothing', async () => {
  const results = record({ isReady: constantFrom(true, false), reason: text, ms: integer({ min: 1 }) });
  await assert(
    asyncProperty(object, results, async (one, { isReady, reason, ms }) => {
      const result = isReady ? ready() : notReady(reason, ms);
      await expectSame(createPostReconcileChecker, 'postReconcileCheck', one, result);
    }),
  );
});

test('a Deleter that only calls next changes nothing', async () => {
  await assert(
    asyncProperty(object, async (one) => {
      await expectSame(createDeleter, 'delete', one, undefined);
    }),
  );
});

test('a SuccessHandler that only calls next changes nothing', async () => {
  await assert(
    asyncProperty(object, async (one) => {
      await expectSame(createSuccessHandler, 'onSuccess', one, undefined);
    }),
  );
});
