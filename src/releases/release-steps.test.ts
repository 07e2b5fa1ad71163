import { OperatorError } from '@addon-operator/base/errors';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { combineSteps, type ReleaseSteps } from './release-steps.ts';

const signal = new AbortController().signal;
const OBJECT: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

/** Steps that write down when they are called. */
function steps(name: string, calls: string[], parts: Partial<ReleaseSteps> = {}): ReleaseSteps {
  const note = async (call: string): Promise<void> => {
    calls.push(`${name} ${call}`);
    await Promise.resolve();
  };
  return {
    digest: '',
    isOpen: false,
    transform: async (objects) => {
      await note('transform');
      return [...objects, { ...OBJECT, metadata: { name } }];
    },
    beforeApply: async () => await note('beforeApply'),
    afterApply: async () => await note('afterApply'),
    ...parts,
  };
}

test('combineSteps() of nothing is nothing, and of one that one', () => {
  expect(combineSteps([])).toBeUndefined();
  const one = steps('one', []);
  expect(combineSteps([one])).toBe(one);
});

test('combineSteps() gives each what the one before made of the objects', async () => {
  const calls: string[] = [];
  const all = combineSteps([steps('one', calls), steps('two', calls)]);
  const result = await all?.transform([OBJECT], signal);
  expect(result?.map(({ metadata }) => metadata.name)).toEqual(['a', 'one', 'two']);
  await all?.beforeApply([OBJECT], signal);
  await all?.afterApply({ revision: 1, objects: [], added: [] }, signal);
  expect(calls.map((call) => call.split(' ')[0])).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
});

test('combineSteps() has an empty digest only if all of them have', () => {
  const digest = (...digests: readonly string[]): string | undefined =>
    combineSteps(digests.map((each) => steps('x', [], { digest: each })))?.digest;
  expect(digest('', '')).toBe('');
  expect(digest('a', '')).not.toBe(digest('', 'a'));
  expect(digest('a', 'b')).toBe(digest('a', 'b'));
});

test('combineSteps() is open if one of them is', () => {
  expect(combineSteps([steps('a', []), steps('b', [], { isOpen: true })])?.isOpen).toBe(true);
  expect(combineSteps([steps('a', []), steps('b', [])])?.isOpen).toBe(false);
});

test('combineSteps() previews what comes before the first step that is open', async () => {
  const calls: string[] = [];
  const open = { isOpen: true };
  const inner = combineSteps([steps('a', calls), steps('asked', calls, open), steps('after', calls)]);
  const all = combineSteps([steps('first', calls), inner, steps('last', calls)]);
  const result = await all?.preview?.([], signal);
  expect(result?.map(({ metadata }) => metadata.name)).toEqual(['first', 'a']);
  expect(calls).toEqual(['first transform', 'a transform']);
});

test('combineSteps() ignores objects if all of them do, and is tried once if one of them is', () => {
  const observer = { ignoresObjects: true, isTriedOnce: true };
  const of = (...parts: readonly Partial<ReleaseSteps>[]): ReleaseSteps | undefined =>
    combineSteps(parts.map((part) => steps('x', [], part)));
  expect(of(observer, observer)).toMatchObject(observer);
  expect(of(observer, {})).toMatchObject({ ignoresObjects: false, isTriedOnce: true });
  expect(of({}, {})).toMatchObject({ ignoresObjects: false, isTriedOnce: false });
});

test('combineSteps() passes a failure through those that want to see it', async () => {
  const error = new OperatorError('HELM_FAILED', 'no');
  const fatal = new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
  const all = combineSteps([
    steps('a', []),
    steps('b', [], { onFailure: async () => await Promise.resolve(fatal) }),
    steps('c', []),
  ]);
  expect(await all?.onFailure?.(error, signal)).toBe(fatal);
});
