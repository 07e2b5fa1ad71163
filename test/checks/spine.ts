/**
 * The files on the way of one event, and those that observe it, as docs/architecture.md shows them: computed from the lines
 * that ran (`record-spine.ts` records them) and from the sentences on the page, which people write.
 */
import { codeOf } from './size.ts';

/** A file with so many executed lines of code has a row on the page; smaller ones may have one. */
const ROW_LINES = 15;
/** A few more, for a check: with a busy machine a run may take another branch. */
const MISSING_LINES = 20;

export type Layer = 'way' | 'observers' | 'general';

/** Lines of code that ran, by file. */
export type ExecutedLines = ReadonlyMap<string, number>;

/** What V8 counts of a source: ranges of functions and blocks, the inner ones after the outer ones. */
export interface CoveredRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface Row {
  readonly file: string;
  readonly sentence: string;
}

/** What only reports, shows or remembers: without it the event would have the same effects. */
const OBSERVERS = [
  /^src\/(?:status|views|journal|recordings|metrics)\//,
  /^packages\/(?:logging|tracing)\//,
  /^src\/queues\/(?:task-log|task-traces|binding-problems|unfinished-runs|task-queue-view)\.ts$/,
  /^src\/hook-runs\/(?:record-runs|recorded-runs)\.ts$/,
  /^src\/hooks\/hook-output-log\.ts$/,
  /^src\/model\/(?:run-history|running-hooks|task-origin)\.ts$/,
];
/** In rooms of observers, but an effect of the hook. */
const EFFECTS = /^src\/metrics\/(?:hook-metrics|metric-operation|instrument)\.ts$/;
/** Packages that everything uses for small things. */
const GENERAL = /^packages\/(?:base|json|strings|concurrency|masking|yaml|files)\//;

export function layerOf(file: string): Layer {
  if (GENERAL.test(file)) return 'general';
  return !EFFECTS.test(file) && OBSERVERS.some((pattern) => pattern.test(file)) ? 'observers' : 'way';
}

/** The number of lines of code that ran at least in part. */
export function executedLines(file: string, source: string, ranges: readonly CoveredRange[]): number {
  const hasRun = new Uint8Array(source.length);
  const nested = ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of nested) {
    hasRun.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  let [lines, start] = [0, 0];
  for (const line of codeOf(file, source).split('\n')) {
    const offset = start;
    if ([...line.matchAll(/\S/g)].some(({ index }) => hasRun[offset + index] === 1)) lines += 1;
    start += line.length + 1;
  }
  return lines;
}

/** Marks where a table begins and ends on the page. */
function markersOf(layer: Layer): readonly [string, string] {
  return [`<!-- executed: ${layer} -->`, `<!-- executed end: ${layer} -->`];
}

/** The rows of a table on the page. */
export function rowsOf(page: string, layer: Layer): readonly Row[] {
  return [...between(page, layer).matchAll(/^\| `(?<file>[^`]+)` \| ?(?<sentence>.*?) ?\|$/gm)].map(
    ({ groups }) => ({ file: groups?.['file'] ?? '', sentence: groups?.['sentence'] ?? '' }),
  );
}

/**
 * The page with the table of what ran: rows keep their place and their sentence, rows of files that did not run go, and files
 * with enough executed lines that have none are appended, with an empty sentence that a person writes.
 */
export function withRows(page: string, layer: Layer, executed: ExecutedLines): string {
  const kept = rowsOf(page, layer).filter(({ file }) => executed.has(file));
  const added = filesOf(layer, executed, ROW_LINES).filter((file) => kept.every((row) => row.file !== file));
  const rows = [...kept, ...added.map((file) => ({ file, sentence: '' }))];
  const lines = rows.map(({ file, sentence }) => `| \`${file}\` | ${sentence} |\n`).join('');
  const [start, end] = markersOf(layer);
  const table = `| file | what it does with the event |\n|---|---|\n${lines}`;
  return page.replace(start + between(page, layer) + end, () => `${start}\n\n${table}\n${end}`);
}

/** One sentence for each row of the page that is not true, and for each file that has none although much of it ran. */
export function spineProblems(page: string, layer: Layer, executed: ExecutedLines): readonly string[] {
  const rows = rowsOf(page, layer);
  return [
    ...rows.flatMap(({ file, sentence }) => {
      if (!executed.has(file)) return [`${file} did not run, but the page lists it (${layer})`];
      return sentence === '' ? [`${file} has no sentence on the page (${layer})`] : [];
    }),
    ...filesOf(layer, executed, MISSING_LINES)
      .filter((file) => rows.every((row) => row.file !== file))
      .map((file) => `${file} ran with ${executed.get(file)} lines and is not on the page (${layer})`),
  ];
}

function filesOf(layer: Layer, executed: ExecutedLines, minLines: number): readonly string[] {
  return [...executed]
    .filter(([file, lines]) => layerOf(file) === layer && lines >= minLines)
    .toSorted(([, a], [, b]) => b - a)
    .map(([file]) => file);
}

function between(page: string, layer: Layer): string {
  const [start, end] = markersOf(layer);
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no lines ${start} and ${end}`);
  return page.slice(from + start.length, to);
}
