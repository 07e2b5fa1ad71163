import { Redactor } from '@addon-operator/masking/redactor';

const SENSITIVE_KEY = /pass|secret|token|credential|private|cert|auth|(?:^|[-_a-z])key$/i;
/** `secretName: web-tls` says where a secret is, not what it is; messages need that. */
const HARMLESS_KEY = /(?:name|namespace|ref|type|mode|path|url|host|enabled)$/i;
const SHORTEST_SENSITIVE = 4;
/** Long texts of letters and digits without spaces are treated as keys. */
const LOOKS_LIKE_KEY = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{20,}$/;

/** Masks secret values, and values that resemble secrets, in an error message, in all forms in which programs write them. */
export function maskValues(text: string, values: unknown): string {
  const redactor = new Redactor();
  collect(values, false, redactor);
  return redactor.text(text);
}

function collect(value: unknown, isSensitive: boolean, into: Pick<Redactor, 'add'>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, isSensitive, into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      collect(item, (isSensitive || SENSITIVE_KEY.test(key)) && !HARMLESS_KEY.test(key), into);
    }
  } else if (typeof value === 'string' || typeof value === 'number') {
    collectText(String(value), isSensitive, into);
  }
}

function collectText(text: string, isSensitive: boolean, into: Pick<Redactor, 'add'>): void {
  const isSecret = isSensitive ? text.length >= SHORTEST_SENSITIVE : LOOKS_LIKE_KEY.test(text);
  if (!isSecret) return;
  into.add(text);
  // helm prints one line of a text at a time.
  for (const line of text.split('\n')) if (line.length >= SHORTEST_SENSITIVE) into.add(line);
}
