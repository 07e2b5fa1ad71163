/** Masks secrets in what a hook wrote, and keeps it parsable. */

import { parseJson } from '@addon-operator/json';
import { splitJsonStream } from '@addon-operator/json/json-stream';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import type { SecretMasks } from './secret-masks.ts';

/**
 * The output of a hook with masks in place of secrets, in a form that can still be parsed. If masks in the string would
 * change more than strings and keys, the values are serialized again, as JSON.
 */
export function maskedOutput(text: string, masks: Pick<SecretMasks, 'text' | 'data'>): string {
  const masked = masks.text(text);
  const documents = readOutput(text);
  if (documents.length === 0) return masked;
  const expected = documents.map((document) => JSON.stringify(masks.data(document)));
  const asRead = readOutput(masked).map((document) => JSON.stringify(document));
  return asRead.join('\n') === expected.join('\n') ? masked : `${expected.join('\n')}\n`;
}

/** The JSON values of an output file, or else its YAML documents; none if it is neither. */
export function readOutput(text: string): readonly unknown[] {
  try {
    return splitJsonStream(text).map((value) => parseJson(value.text));
  } catch {
    return readYaml(text);
  }
}

function readYaml(text: string): readonly unknown[] {
  try {
    return Array.from(
      yamlDocuments(text),
      (document) => parseYaml(document.text, { source: '', booleans: 'yaml-1.2' }).value,
    ).filter((document) => document !== null);
  } catch {
    return [];
  }
}
