import { OperatorError } from '../../lib/errors.ts';
import { isObject, parseJson } from '../../lib/json.ts';
import { splitJsonStream } from '../../lib/json-stream.ts';
import { findDuplicateKey } from './duplicate-key.ts';
import { readYamlDocuments, YamlTextError } from './yaml-documents.ts';

export interface PatchDocuments {
  /** In JSON the names of fields are read in any case, in YAML only as documented. */
  readonly format: 'json' | 'yaml';
  /** Not checked at all: a list, a scalar, or null for an empty document may be among them. */
  readonly documents: readonly unknown[];
}

/** The text is no JSON; it may be YAML. */
class NotJsonError extends Error {}

/**
 * The documents of a patch file: JSON values one after another, or else YAML documents. A blank text has none.
 *
 * @throws OperatorError HOOK_OUTPUT_INVALID saying where the text is broken, quoting nothing of it
 */
export function readPatchDocuments(text: string): PatchDocuments {
  if (text.startsWith('\u{FEFF}')) throw invalid('it starts with a byte order mark: write it as plain UTF-8');
  if (text.includes('\0')) throw invalid('it has NUL characters: write it as UTF-8');
  if (text.trim() === '') return { format: 'json', documents: [] };
  try {
    return { format: 'json', documents: readJson(text) };
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    return { format: 'yaml', documents: readYaml(text, error.message) };
  }
}

function readJson(text: string): readonly unknown[] {
  return splitJsonStream(text).map((part, index) => {
    const place = `value ${index + 1} at offset ${part.offset}`;
    let value: unknown;
    try {
      value = parseJson(part.text);
    } catch {
      throw new NotJsonError(place);
    }
    const duplicate = findDuplicateKey(part.text);
    if (duplicate === undefined) return value;
    throw invalid(`${place} has the key "${duplicate.key}" twice in one object`);
  });
}

function readYaml(text: string, jsonFault: string): readonly unknown[] {
  try {
    return readYamlDocuments(text);
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw invalid(
      `it is neither a stream of JSON objects (${jsonFault} is broken) nor YAML (${error.message})`,
    );
  }
}

/**
 * The one document of a text in YAML or JSON that stands in a string.
 *
 * @throws YamlTextError
 */
export function readEmbedded(text: string): unknown {
  const json = readWholeJson(text);
  if (json !== undefined) return json;
  const documents = readYamlDocuments(text);
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
