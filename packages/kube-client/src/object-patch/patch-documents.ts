// Splits the object patch file of a hook into documents. The format is not declared: a file that is a stream
// of JSON values is JSON, anything else is read as YAML, and if neither works the error names the fault of
// both. Hooks are shell scripts, so the file may be large, deep or hostile: sizes, depths and aliases are
// limited. Messages quote nothing.

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { finish, type Steps } from '@addon-operator/concurrency/steps';
import { isObject, parseJson } from '@addon-operator/json';
import { hasMoreItems, jsonStream } from '@addon-operator/json/json-stream';
import { yamlMarks } from '@addon-operator/yaml';
import { readFlowAtAnyColumn } from '@addon-operator/yaml/yaml-flow-columns';
import { CORE_SCHEMA, defineScalarTag, loadAll, mergeTag, NOT_RESOLVED, YAMLException } from 'js-yaml';

interface PatchDocuments {
  /** In JSON the names of fields are read in any case, in YAML only as documented. */
  readonly format: 'json' | 'yaml';
  /** Not checked at all: a list, a scalar, or null for an empty document may be among them. */
  readonly documents: readonly unknown[];
}

/** Keys and values, or lines and marks of YAML, of one document, which is read at once. */
const MAX_ITEMS = 100_000;

/** The file is no JSON; it may be YAML. */
class NotJsonError extends Error {}

/**
 * The documents of a patch file: JSON values one after another, or else YAML documents; a step for each. A blank file
 * has none.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID with the place of the fault, quoting nothing of the file
 */
export function* patchDocumentSteps(text: string): Steps<PatchDocuments> {
  if (text.includes('\0')) throw invalid('it has NUL characters: write it as UTF-8');
  if (text.trim() === '') return { format: 'json', documents: [] };
  try {
    return { format: 'json', documents: yield* jsonSteps(text) };
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    return { format: 'yaml', documents: yield* yamlSteps(text, error.message) };
  }
}

function* jsonSteps(text: string): Steps<readonly unknown[]> {
  const documents: unknown[] = [];
  for (const part of jsonStream(text)) {
    const place = `value ${documents.length + 1} at offset ${part.offset}`;
    documents.push(readJson(part.text, place));
    yield;
  }
  return documents;
}

function readJson(text: string, place: string): unknown {
  // A text in YAML has a value without quotes and brackets at its start.
  if (/^[{[]/.test(text) && hasMoreItems(text, MAX_ITEMS))
    throw invalid(`${place} has more than ${MAX_ITEMS} keys and values`);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new NotJsonError(place);
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate === undefined) return value;
  throw invalid(`${place} has the key "${duplicate.key}" twice in one object`);
}

function* yamlSteps(text: string, jsonFault: string): Steps<readonly unknown[]> {
  try {
    return yield* yamlDocumentSteps(text);
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw invalid(
      `it is neither a stream of JSON objects (${jsonFault} is broken) nor YAML (${error.message})`,
    );
  }
}

/**
 * The one document of a string with YAML or JSON.
 *
 * @throws YamlTextError
 */
export function readEmbedded(text: string): unknown {
  const json = readWholeJson(text);
  if (json !== undefined) return json;
  const documents = finish(yamlDocumentSteps(text));
  if (documents.length > 1) throw new YamlTextError(`it has ${documents.length} documents instead of one`);
  return documents[0] ?? null;
}

function readWholeJson(text: string): Readonly<Record<string, unknown>> | readonly unknown[] | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined)
    throw new YamlTextError(`it has the key "${duplicate.key}" twice in one object`);
  return isObject(value) || Array.isArray(value) ? value : undefined;
}

function invalid(problem: string): OperatorError {
  return new OperatorError('HOOK_OUTPUT_INVALID', `Cannot read the object patch: ${problem}`);
}

/** A string with the colon behind it that makes it a key, or a bracket. */
const TOKEN = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?|[{}[\]]/gs;

/** The first key that occurs twice in one object of a valid JSON text, with its offset; undefined if there is none. */
function findDuplicateKey(json: string): { readonly key: string; readonly offset: number } | undefined {
  const open: Set<string>[] = [];
  for (const token of json.matchAll(TOKEN)) {
    const [symbol] = token;
    if (symbol === '{' || symbol === '[') open.push(new Set());
    else if (symbol === '}' || symbol === ']') open.pop();
    else if (token.groups?.['colon'] !== undefined) {
      const key: unknown = JSON.parse(symbol.slice(0, symbol.lastIndexOf('"') + 1));
      const seen = open.at(-1);
      if (typeof key !== 'string' || seen === undefined) continue;
      if (seen.has(key)) return { key, offset: token.index };
      seen.add(key);
    }
  }
  return undefined;
}

/** The YAML is invalid; the message quotes nothing of it. */
export class YamlTextError extends Error {}

const MAX_DEPTH = 100;
const MAX_ALIASES = 1_000;
/** Aliases can make a small file huge. */
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

/** Where a document begins: also in the middle of a scalar the mark can mean nothing else. */
const DOCUMENT_START = /(?<![^\n])(?=---(?:[ \t\r\n]|$))/;
/** Directives belong to the document behind the next mark. */
const DIRECTIVE = /^%/m;

/**
 * The YAML documents as plain JSON data; an empty document is null. Dates and the words of YAML 1.1 for
 * booleans stay strings, merge keys work.
 *
 * @throws YamlTextError for bad syntax, duplicate keys, odd tags, numbers that JSON does not have, too deep nesting
 */
function* yamlDocumentSteps(text: string): Steps<readonly unknown[]> {
  const documents: unknown[] = [];
  const checkSize = createSizeCheck();
  let linesBefore = 0;
  const pieces = DIRECTIVE.test(text) ? [text] : text.split(DOCUMENT_START);
  for (const piece of pieces) {
    const read = readYaml(piece, linesBefore);
    for (const document of read) checkSize(document);
    documents.push(...read);
    linesBefore += piece.split('\n').length - 1;
    yield;
  }
  return documents;
}

function readYaml(text: string, linesBefore: number): readonly unknown[] {
  if (text.length > MAX_ITEMS && yamlMarks(text) > MAX_ITEMS)
    throw new YamlTextError(
      `a document has more than ${MAX_ITEMS} lines, commas, colons and opening brackets`,
    );
  try {
    const options = { schema: SCHEMA, maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES };
    return readFlowAtAnyColumn(text, (parsed) => loadAll(parsed, options));
  } catch (error) {
    throw new YamlTextError(problemOf(error, linesBefore));
  }
}

/** Limits the nodes of all documents of a file together. */
function createSizeCheck(): (document: unknown) => void {
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
  return (document) => check(document, 0);
}

function problemOf(error: unknown, linesBefore: number): string {
  if (!(error instanceof YAMLException)) return messageOf(error);
  const line = error.mark === undefined ? '' : ` in line ${linesBefore + error.mark.line + 1}`;
  return `${error.reason}${line}`;
}
