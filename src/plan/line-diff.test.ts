import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffLine, lineDiff } from './line-diff.ts';

function shown(lines: readonly DiffLine[]): string[] {
  const signs = { same: ' ', removed: '-', added: '+' };
  return lines.map((line) => (line.type === 'gap' ? `@${String(line.lines)}` : signs[line.type] + line.text));
}

const CASES: readonly [string, string, string, readonly string[]][] = [
  ['equal texts', 'a\nb\n', 'a\nb\n', []],
  ['a changed line', 'a\nb\nc\n', 'a\nx\nc\n', [' a', '-b', '+x', ' c']],
  ['an added line', 'a\n', 'a\nb\n', [' a', '+b']],
  ['everything new', '', 'a\nb\n', ['+a', '+b']],
  ['everything gone', 'a\n', '', ['-a']],
  ['lines in common stay', 'a\nb\nc\nd\n', 'b\nx\nd\n', ['-a', ' b', '-c', '+x', ' d']],
  [
    'far lines are left out',
    '1\n2\n3\n4\n5\n6\n7\n',
    '1\n2\n3\n4\n5\n6\nx\n',
    ['@3', ' 4', ' 5', ' 6', '-7', '+x'],
  ],
];

test.for(CASES)('%s', ([, before, after, expected]) => {
  expect(shown(lineDiff(before, after))).toEqual(expected);
});

test('what is kept and removed is the one text, what is kept and added the other', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 7 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join('\n'), after.join('\n'));
      fc.pre(before.join() !== after.join() && lines.every(({ type }) => type !== 'gap'));
      const without = (type: DiffLine['type']) =>
        lines.flatMap((line) => (line.type === 'gap' || line.type === type ? [] : [line.text]));
      expect(without('added')).toEqual(before);
      expect(without('removed')).toEqual(after);
    }),
  );
});

test('few changes of a long text are shown, however far they are from each other', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `line ${String(index)}`);
  const after = before.with(0, 'first').with(19_999, 'last');
  expect(shown(lineDiff(before.join('\n'), after.join('\n')))).toEqual([
    '-line 0',
    '+first',
    ' line 1',
    ' line 2',
    ' line 3',
    '@19992',
    ' line 19996',
    ' line 19997',
    ' line 19998',
    '-line 19999',
    '+last',
  ]);
});

test('texts that are too different to compare are shown one after the other', () => {
  const lines = (prefix: string) =>
    Array.from({ length: 2_100 }, (_, index) => `${prefix}${String(index)}`).join('\n');
  const diff = lineDiff(lines('a'), lines('b'));
  expect(diff).toHaveLength(4_200);
  expect(diff[0]).toEqual({ type: 'removed', text: 'a0' });
});
