import { isObject } from '@addon-operator/json';
import { escapeControls } from '@addon-operator/strings/escape-controls';

/** The text with control characters escaped, but for tabs and the ends of lines: nothing in it moves a cursor. */
export function harmless(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(escapeControls).join('\t'))
    .join('\n');
}

/** A copy of plain data in which all texts are {@link harmless}. */
export function harmlessData<T>(data: T): T {
  return copyOf(data) as T; // texts become texts, everything else stays
}

function copyOf(value: unknown): unknown {
  if (typeof value === 'string') return harmless(value);
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyOf(item)]));
}
