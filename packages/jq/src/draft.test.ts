import { expect, test } from 'vitest';
import { Draft } from './draft.ts';
import { Engine } from './engine.ts';
import type { Value } from './value.ts';

test('a draft leaves the value it began with as it is', () => {
  const value = { list: [1, { a: 1 }], other: 'x' };
  const draft = new Draft(value);
  draft.set(['list', 1, 'a'], 2);
  draft.set(['list', 0], 9);
  draft.set(['new', 2], true);
  expect(draft.value).toEqual({ list: [9, { a: 2 }], other: 'x', new: [null, null, true] });
  expect(value).toEqual({ list: [1, { a: 1 }], other: 'x' });
});

test('what was taken out of a draft does not change any more, wherever it is put', () => {
  const draft = new Draft({ a: { x: 1 } });
  draft.set(['a', 'x'], 2);
  const taken = draft.take(['a']);
  draft.set(['b'], [taken, taken]);
  draft.set(['b', 0, 'x'], 3);
  draft.set(['a', 'x'], 4);
  expect([taken, draft.value]).toEqual([{ x: 2 }, { a: { x: 4 }, b: [{ x: 3 }, { x: 2 }] }]);
});

test.each([
  '.[] |= {b: .a}',
  '.[].a |= . + 1',
  '.[].a += 1',
  'del(.[].a)',
  'del(.[] | select(.a % 2 == 0))',
  '[match("😀"; "g")]',
  'gsub("a"; "b")',
])('%s takes time in proportion to its input', (program) => {
  const run = new Engine(() => 0).compile(program);
  const input: Value = /match|gsub/.test(program)
    ? '😀a'.repeat(20_000)
    : Array.from({ length: 20_000 }, (_, a) => ({ a }));
  // The CPU time of this thread, which does not count waiting for other processes.
  const before = process.threadCpuUsage();
  expect([...run(input)]).toHaveLength(1);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_500);
});
