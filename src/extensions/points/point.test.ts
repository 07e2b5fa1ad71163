import { systemClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { type ErrorDetails, errorDetails, proceed, ready } from '@addon-operator/sdk';
import { POINT_METHODS, type PointMethod } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import {
  createDeleter,
  createErrorClassifier,
  createManifestModifier,
  createPostReconcileChecker,
  createPreReconcileChecker,
  createSuccessHandler,
} from './object-points.ts';
import { chainPoints, type HostMethod, nextOf, type PointHost } from './point.ts';

const signal = new AbortController().signal;
const OBJECT = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const ERROR = { code: 'HELM_FAILED', status: 422, reason: 'Invalid', message: 'no', object: OBJECT };

function modifier(name: string): PointHost {
  const modifyManifest: HostMethod = async (object, next) => {
    const { data = '', ...rest } = (await next(object)) as { readonly data?: string };
    return { ...rest, data: `${data}${name}` };
  };
  return { name, modifyManifest };
}

function same<T>(): (input: T) => Promise<T> {
  return nextOf((input: T) => input);
}

test('a point without a host, or whose host lacks the method, is the default behaviour', async () => {
  for (const host of [undefined, { name: 'X' }, modifier('m')]) {
    const result = await createErrorClassifier(host)(ERROR, nextOf(fatal), 'v1', silentLogger, signal);
    expect(result).toEqual(errorDetails('fatal', 'a', 'b'));
  }
});

test('an extension can act before the default behaviour, after it, or skip it', async () => {
  const modified = (modifyManifest: HostMethod): Promise<unknown> =>
    createManifestModifier({ name: 'X', modifyManifest })(
      OBJECT,
      nextOf((object) => ({ ...object, b: 'default' })),
      'v1',
      silentLogger,
      signal,
    );
  expect(await modified((object, next) => next({ ...(object as object), a: 1 }))).toMatchObject({
    a: 1,
    b: 'default',
  });
  expect(
    await modified(async (object, next) => ({ ...((await next(object)) as object), a: 2 })),
  ).toMatchObject({
    a: 2,
    b: 'default',
  });
  expect(await modified((object) => Promise.resolve({ ...(object as object), a: 3 }))).toEqual({
    ...OBJECT,
    a: 3,
  });
});

test('an extension gets the version of the API, and a log', async () => {
  const seen: unknown[] = [];
  const modifyManifest: HostMethod = async (object, next, ...rest) => {
    seen.push(...rest);
    return await next(object);
  };
  await createManifestModifier({ name: 'X', modifyManifest })(
    OBJECT,
    same(),
    'apps/v1',
    silentLogger,
    signal,
  );
  expect(seen).toEqual(['apps/v1', silentLogger, signal]);
});

test('entry and exit are logged, with and without an extension; a failure is an error', async () => {
  const captured = new CapturedLog(systemClock);
  const log = captured.logger;
  const failing: HostMethod = () => Promise.reject(new OperatorError('EXTENSION_FAILED', 'boom'));
  await createManifestModifier(undefined)(OBJECT, same(), 'v1', log, signal);
  await createManifestModifier(modifier('X'))(OBJECT, same(), 'v1', log, signal);
  await createManifestModifier({ name: 'X', modifyManifest: failing })(
    OBJECT,
    same(),
    'v1',
    log,
    signal,
  ).catch(() => undefined);
  expect(captured.records.map(({ level, msg, extension }) => [level, msg, extension])).toEqual([
    ['debug', 'extension point entered', undefined],
    ['debug', 'extension point left', undefined],
    ['debug', 'extension point entered', 'X'],
    ['debug', 'extension point left', 'X'],
    ['debug', 'extension point entered', 'X'],
    ['error', 'extension point failed', 'X'],
  ]);
});

test('the default behaviour of one point in a chain is the next one', async () => {
  const chain = chainPoints([createManifestModifier(modifier('1')), createManifestModifier(modifier('2'))]);
  expect(await chain(OBJECT, same(), 'v1', silentLogger, signal)).toEqual({ ...OBJECT, data: '21' });
});

test('an error of the default behaviour comes through as it is', async () => {
  const error = new OperatorError('KUBE_API', 'no');
  const calling: HostMethod = (object, next) => next(object);
  const run = createManifestModifier({ name: 'X', modifyManifest: calling })(
    OBJECT,
    () => Promise.reject(error),
    'v1',
    silentLogger,
    signal,
  );
  await expect(run).rejects.toBe(error);
});

const CALLS: Readonly<Record<PointMethod, (host: PointHost) => Promise<unknown>>> = {
  classifyError: (host) => createErrorClassifier(host)(ERROR, nextOf(fatal), 'v1', silentLogger, signal),
  modifyManifest: (host) => createManifestModifier(host)(OBJECT, same(), 'v1', silentLogger, signal),
  preReconcileCheck: (host) =>
    createPreReconcileChecker(host)(OBJECT, nextOf(proceed), 'v1', silentLogger, signal),
  postReconcileCheck: (host) =>
    createPostReconcileChecker(host)(OBJECT, nextOf(ready), 'v1', silentLogger, signal),
  delete: (host) => createDeleter(host)(OBJECT, nextOf(nothing), 'v1', silentLogger, signal),
  onSuccess: (host) => createSuccessHandler(host)(OBJECT, nextOf(nothing), 'v1', silentLogger, signal),
};

function fatal(): ErrorDetails {
  return errorDetails('fatal', 'a', 'b');
}

function nothing(): void {
  return undefined;
}

test.each<[PointMethod, unknown, string]>([
  ['classifyError', null, 'must be created by errorDetails()'],
  ['classifyError', { classification: 'maybe' }, '"retryable" or "fatal"'],
  ['classifyError', { classification: 'fatal', code: 7 }, 'code must be a string'],
  ['modifyManifest', 'text', 'an object with apiVersion, kind and metadata'],
  ['modifyManifest', { ...OBJECT, apiVersion: undefined }, 'no apiVersion'],
  ['modifyManifest', { ...OBJECT, kind: 'Secret' }, 'must remain ConfigMap "a", but is Secret "a"'],
  ['modifyManifest', { ...OBJECT, metadata: { name: 'b' } }, 'but is ConfigMap "b"'],
  ['preReconcileCheck', {}, 'created by proceed() or block()'],
  ['preReconcileCheck', { proceed: false, reason: 'x', retryAfterMs: -1 }, 'greater than zero'],
  ['preReconcileCheck', { proceed: false, retryAfterMs: 1 }, 'reason must be a string'],
  ['postReconcileCheck', true, 'created by ready() or notReady()'],
  ['postReconcileCheck', { ready: false, reason: 'x' }, 'retryAfterMs must be a number'],
])('what %s() returns has to be usable: %j is not', async (method, returned, expected) => {
  const host = { name: 'X', [method]: async () => await Promise.resolve(returned) };
  const message = await CALLS[method](host).then(() => 'no error', messageOf);
  expect(message).toContain(`Cannot use the result of ${method}(): `);
  expect(message).toContain(expected);
});

test.each<PointMethod>(POINT_METHODS)('what %s() gives to next has to be usable', async (method) => {
  const host = { name: 'X', [method]: ((_input, next) => next(7)) satisfies HostMethod };
  expect(await CALLS[method](host).then(() => 'no error', messageOf)).toContain(
    `Cannot use the result of ${method}(): `,
  );
});
