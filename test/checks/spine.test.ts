import { expect, test } from 'vitest';
import { type CoveredRange, executedLines, layerOf, rowsOf, spineProblems, withRows } from './spine.ts';

const SOURCE = `const one = () => 1;
function two(isOn) {
  // why
  if (isOn) {
    return 1;
  }

  return 2;
}
`;
const rangeOf = (text: string, count: number): CoveredRange => {
  const startOffset = SOURCE.indexOf(text);
  return { startOffset, endOffset: startOffset + text.length, count };
};
const whole = rangeOf(SOURCE, 0);
const two = SOURCE.slice(SOURCE.indexOf('function two'));
const block = '{\n    return 1;\n  }';

test.each<{ what: string; ranges: readonly CoveredRange[]; lines: number }>([
  { what: 'nothing that ran', ranges: [whole], lines: 0 },
  { what: 'a function, without its comments and blank lines', ranges: [whole, rangeOf(two, 1)], lines: 6 },
  { what: 'a block that did not run', ranges: [whole, rangeOf(two, 2), rangeOf(block, 0)], lines: 4 },
  {
    what: 'a block that did not run and is reported first',
    ranges: [rangeOf(block, 0), rangeOf(two, 2)],
    lines: 4,
  },
  { what: 'a part of a line', ranges: [whole, rangeOf('() => 1', 3)], lines: 1 },
])('executedLines() counts $what', ({ ranges, lines }) => {
  expect(executedLines('a.ts', SOURCE, ranges)).toBe(lines);
});

test.each([
  ['src/queues/task-router.ts', 'way'],
  ['src/queues/task-log.ts', 'observers'],
  ['src/status/module-status.ts', 'observers'],
  ['src/metrics/operator-metrics.ts', 'observers'],
  ['src/metrics/hook-metrics.ts', 'way'],
  ['packages/logging/src/json-logger.ts', 'observers'],
  ['packages/json/src/json.ts', 'general'],
])('layerOf(%j) is %s', (file, layer) => {
  expect(layerOf(file)).toBe(layer);
});

const PAGE = `# Page

<!-- executed: way -->

| file | what it does with the event |
|---|---|
| \`src/b.ts\` | does $1 & more |
| \`src/gone.ts\` | did it |
| \`src/a.ts\` | begins |

<!-- executed end: way -->

After.
`;
const executed = new Map([
  ['src/new.ts', 30],
  ['src/a.ts', 3],
  ['src/b.ts', 100],
  ['src/small.ts', 14],
  ['src/journal/journal.ts', 90],
]);

test('withRows() keeps order and sentences, drops files that did not run, and appends those with enough lines', () => {
  const page = withRows(PAGE, 'way', executed);
  expect(rowsOf(page, 'way')).toEqual([
    { file: 'src/b.ts', sentence: 'does $1 & more' },
    { file: 'src/a.ts', sentence: 'begins' },
    { file: 'src/new.ts', sentence: '' },
  ]);
  expect(page.startsWith('# Page\n\n<!--')).toBe(true);
  expect(page.endsWith('-->\n\nAfter.\n')).toBe(true);
  expect(withRows(page, 'way', executed)).toBe(page);
});

test('spineProblems() names rows that did not run, rows without a sentence, and files without a row', () => {
  expect(spineProblems(PAGE, 'way', executed)).toEqual([
    'src/gone.ts did not run, but the page lists it (way)',
    'src/new.ts ran with 30 lines and is not on the page (way)',
  ]);
  expect(spineProblems(withRows(PAGE, 'way', executed), 'way', executed)).toEqual([
    'src/new.ts has no sentence on the page (way)',
  ]);
  expect(() => spineProblems(PAGE, 'observers', executed)).toThrow(
    'the page has no lines <!-- executed: observers --> and <!-- executed end: observers -->',
  );
});
