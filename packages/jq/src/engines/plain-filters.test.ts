import { parseJson } from '@addon-operator/json';
import { beforeEach, expect, test } from 'vitest';
import type { JqEngine } from './jq-engine.ts';
import { PlainFilters } from './plain-filters.ts';

const never = new AbortController().signal;
let compiled: string[];
let isStopped: boolean;
let filters: JqEngine;

beforeEach(() => {
  compiled = [];
  isStopped = false;
  filters = new PlainFilters({
    name: 'jq 1.8',
    compile: async (program) => {
      compiled.push(program);
      return { apply: async () => ['of the engine'] };
    },
    stop: async () => {
      isStopped = true;
    },
  });
});

test('a program that only selects is applied without the engine', async () => {
  const filter = await filters.compile('.metadata.labels', never);
  const outputs = await filter.apply({ metadata: { labels: { b: '1', a: '2' } } }, never);
  expect(JSON.stringify(outputs)).toBe('[{"a":"2","b":"1"}]');
  expect(compiled).toEqual([]);
});

test('any other program is applied by the engine', async () => {
  const filter = await filters.compile('.metadata.labels | keys', never);
  expect(await filter.apply({}, never)).toEqual(['of the engine']);
  expect(compiled).toEqual(['.metadata.labels | keys']);
});

test('the engine sees a program that is refused or not valid', async () => {
  await filters.compile('input', never);
  await filters.compile('.a[', never);
  expect(compiled).toEqual(['input', '.a[']);
});

test('the output shares nothing with the object, and keeps integers beyond 2^53 and `__proto__`', async () => {
  const input = parseJson('{"b": {"n": 9007199254740993, "__proto__": [1]}, "a": null}') as { b: object };
  const filter = await filters.compile('.', never);
  const [output] = (await filter.apply(input, never)) as [{ b: object }];
  expect(JSON.stringify(output)).toBe('{"a":null,"b":{"__proto__":[1],"n":9007199254740993}}');
  expect(output.b).not.toBe(input.b);
});

test('a failure has the message of jq, and names the program', async () => {
  const filter = await filters.compile('.a.b', never);
  await expect(filter.apply({ a: 'text' }, never)).rejects.toMatchObject({
    code: 'JQ_RUNTIME',
    message: 'Cannot apply the jq filter ".a.b": Cannot index string with string ("b")',
  });
});

test('an output of more than 300,000 keys and values is refused', async () => {
  const filter = await filters.compile('.a', never);
  expect(await filter.apply({ a: Array(299_999).fill(1) }, never)).toHaveLength(1);
  const tooLarge = filter.apply({ a: Array(300_000).fill(1) }, never);
  await expect(tooLarge).rejects.toThrow('more than 300000 keys and values');
});

test('apply() and compile() reject with the reason of the signal', async () => {
  const filter = await filters.compile('.a', never);
  const reason = new Error('enough');
  await expect(filter.apply({}, AbortSignal.abort(reason))).rejects.toBe(reason);
  await expect(filters.compile('.a', AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('name and stop() are those of the engine', async () => {
  expect(filters.name).toBe('jq 1.8');
  await filters.stop();
  expect(isStopped).toBe(true);
});
