import { randomUUID } from 'node:crypto';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, isObject, isRawJson, type Json } from '@addon-operator/json';
import { pathBeyond } from '@addon-operator/json/depth';
import { withoutByteOrderMark } from '@addon-operator/strings/byte-order-mark';
import { dump, type Event, parseEvents, YAMLException } from 'js-yaml';
import { buildDocument } from './yaml-builder.ts';
import { readFlowAtAnyColumn } from './yaml-flow-columns.ts';
import { type YamlBooleans, YamlProblem } from './yaml-scalars.ts';

interface YamlOptions {
  /** Name of the source in messages: a file path, or the key of a ConfigMap. */
  readonly source: string;
  readonly booleans: YamlBooleans;
}

interface YamlText {
  /** Null for an empty text. */
  readonly value: Json;
  /** Further documents follow the first one; they do not count. */
  readonly hasMoreDocuments: boolean;
}

export const MAX_YAML_DEPTH = 100;
const ADVICE = {
  characters: 'keep large data in files of the chart, which templates read with .Files.Get',
  marks: 'split the file, or keep large data in files of the chart',
} as const;

/**
 * Reads the first document of a YAML text as plain JSON data. A byte order mark at its start is skipped, as by Go. Keys are kept as they are written, dates stay strings,
 * merge keys (`<<`) work. Integers that a double would change are kept as raw JSON (see `parseJson`). Refused, with line and path: duplicate keys, keys that are no scalars, tags beyond the JSON
 * types, tabs as indentation, numbers that JSON does not have, nesting beyond 100 levels,
 * more than 1000 aliases, and texts beyond 10 million characters or 600,000 lines, commas, colons and opening brackets, or that aliases blow up beyond that.
 *
 * @throws OperatorError VALUES_INVALID naming source and line
 */
export function parseYaml(content: string, options: YamlOptions): YamlText {
  const text = withoutByteOrderMark(content);
  let parsed = text;
  try {
    const size = yamlSizeProblem(text);
    if (size !== undefined) throw new YamlProblem(`${describeYamlSize(size, text)}; ${ADVICE[size]}`, 0);
    const read = readEvents(text);
    parsed = read.parsed;
    return buildDocument(parsed, read.events, { ...options, maxDepth: MAX_YAML_DEPTH });
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    const line = parsed.slice(0, error.offset).split('\n').length;
    throw new OperatorError('VALUES_INVALID', `${options.source}:${line}: ${error.message}`, {
      cause: error.cause,
    });
  }
}

/** The events, and the text they were read from: lines may be indented otherwise. */
function readEvents(text: string): { readonly parsed: string; readonly events: readonly Event[] } {
  try {
    return readFlowAtAnyColumn(text, (parsed) => ({
      parsed,
      events: parseEvents(parsed, { maxDepth: MAX_YAML_DEPTH }),
    }));
  } catch (error) {
    const isYaml = error instanceof YAMLException;
    const offset = isYaml && error.mark !== undefined ? startOfLine(text, error.mark.line) : 0;
    throw new YamlProblem(isYaml ? error.reason : messageOf(error), offset);
  }
}

function startOfLine(text: string, line: number): number {
  return text.split('\n', line).reduce((offset, { length }) => offset + length + 1, 0);
}

/**
 * The value of one YAML document of a manifest as helm reads it, with all digits of its numbers.
 *
 * @param source what the text is, for errors
 * @throws what {@link parseYaml} throws
 */
export function parseHelmYaml(text: string, source = 'rendered manifest'): unknown {
  return parseYaml(text, { source, booleans: 'yaml-1.1' }).value;
}

/**
 * YAML with sorted keys and without anchors. Texts that any YAML version reads as something else are quoted, so every
 * reader gets the same data back. What is nested beyond 100 levels is written as JSON, which is YAML too.
 *
 * @param indent spaces per level
 */
export function dumpYaml(value: Json, indent: number): string {
  if (pathBeyond(value, MAX_YAML_DEPTH) !== undefined) return `${canonicalJson(value)}\n`;
  // The writer knows no exact numbers, so they pass it as words that nothing else contains.
  const mark = `exact-${randomUUID()}-`;
  const text = dump(withMarkedNumbers(value, mark), { indent, sortKeys: true, noRefs: true, lineWidth: -1 });
  return text.replaceAll(mark, '');
}

function withMarkedNumbers(value: unknown, mark: string): unknown {
  if (isRawJson(value)) return `${mark}${JSON.stringify(value)}`;
  if (Array.isArray(value)) return value.map((item) => withMarkedNumbers(item, mark));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) copy[key] = withMarkedNumbers(item, mark);
  return copy;
}

/** No less than what aliases may make of a text, and far below what would take the daemon's memory. */
const MAX_YAML_CHARACTERS = 10_000_000;
/**
 * The time to read a text depends on its nodes, not on its length: 600,000 of them take about a second, in which nothing
 * else is done. A ConfigMap of 1 MiB has at most 530,000.
 */
export const MAX_YAML_MARKS = 600_000;
const MARKS: ReadonlySet<number> = new Set(Array.from(',:[{\n', (mark) => mark.charCodeAt(0)));

/** Why a text is not read at all; undefined for one of a reasonable size. */
export function yamlSizeProblem(text: string): 'characters' | 'marks' | undefined {
  if (text.length > MAX_YAML_CHARACTERS) return 'characters';
  return hasTooManyMarks(text) ? 'marks' : undefined;
}

/** The problem in words, without advice. */
export function describeYamlSize(problem: 'characters' | 'marks', text: string): string {
  switch (problem) {
    case 'characters':
      return `too large: ${text.length} characters, at most ${MAX_YAML_CHARACTERS} are read`;
    case 'marks':
      return `too large: more than ${MAX_YAML_MARKS} lines, commas, colons and opening brackets`;
  }
}

function hasTooManyMarks(text: string): boolean {
  return text.length > MAX_YAML_MARKS && yamlMarks(text) > MAX_YAML_MARKS;
}

/** How many lines, commas, colons and opening brackets a text has: each costs time to read. */
export function yamlMarks(text: string): number {
  let marks = 0;
  for (let index = 0; index < text.length; index += 1) if (MARKS.has(text.charCodeAt(index))) marks += 1;
  return marks;
}
