import { CORE_SCHEMA, defineScalarTag, loadAll, mergeTag, NOT_RESOLVED, YAMLException } from 'js-yaml';
import { messageOf } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { readFlowAtAnyColumn } from '../../lib/yaml-flow-columns.ts';

/** What is wrong with a YAML text; the message quotes nothing of the text. */
export class YamlTextError extends Error {}

const MAX_DEPTH = 100;
const MAX_ALIASES = 1_000;
/** Aliases can make a small text huge. */
const MAX_NODES = 1_000_000;

const INTEGER = /^[-+]?(?:0|[1-9][0-9_]*|0[0-7_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)$/;

/** Integers as hooks know them from Go: `0644` is octal, `1_000` has a separator, and none loses a digit. */
const exactIntTag = defineScalarTag('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: '-+0123456789'.split(''),
  resolve: (source) => (INTEGER.test(source) ? exactInteger(source) : NOT_RESOLVED),
  identify: () => false,
});

const SCHEMA = CORE_SCHEMA.withTags(mergeTag, exactIntTag);

function exactInteger(source: string): unknown {
  const sign = source.startsWith('-') ? -1n : 1n;
  const digits = source
    .replace(/^[-+]/, '')
    .replaceAll('_', '')
    .replace(/^0(?=[0-7]+$)/, '0o');
  return parseJson(String(sign * BigInt(digits)));
}

/**
 * The documents of a YAML text as plain JSON data; an empty document is null. Dates and the words of YAML 1.1 for
 * booleans stay strings, merge keys work.
 *
 * @throws YamlTextError for bad syntax, duplicate keys, odd tags, numbers that JSON does not have, too deep nesting
 */
export function readYamlDocuments(text: string): readonly unknown[] {
  let documents: readonly unknown[];
  try {
    const options = { schema: SCHEMA, maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES };
    documents = readFlowAtAnyColumn(text, (parsed) => loadAll(parsed, options));
  } catch (error) {
    throw new YamlTextError(problemOf(error));
  }
  let nodes = 0;
  const check = (value: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > MAX_NODES) throw new YamlTextError('its aliases make it too large');
    if (depth > MAX_DEPTH) throw new YamlTextError(`it is nested deeper than ${MAX_DEPTH} levels`);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlTextError('it has a number that JSON cannot express (.inf or .nan)');
    }
    if (typeof value === 'object' && value !== null) {
      for (const child of Object.values(value)) check(child, depth + 1);
    }
  };
  for (const document of documents) check(document, 0);
  return documents;
}

function problemOf(error: unknown): string {
  if (!(error instanceof YAMLException)) return messageOf(error);
  const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`;
  return `${error.reason}${line}`;
}
