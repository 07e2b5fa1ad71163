import { parseGoDuration } from '../lib/go-duration.ts';

const MIN_MS = 1_000;
const FORMS = 'a duration of at least 1s such as 10m or 1h30m, or a crontab such as "0 3 * * *" or "@daily"';

/**
 * Reads the key `reconcileEvery` of a `module.yaml`; what is wrong with it is added to `problems`. Whether the fields of
 * a crontab are right is seen only by who reads it.
 */
export function readReconcileEvery(value: unknown, problems: string[]): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string' && (isDuration(value) || looksLikeCrontab(value))) return value;
  problems.push(`reconcileEvery: expected ${FORMS}, got ${JSON.stringify(value)}`);
  return undefined;
}

function isDuration(text: string): boolean {
  return (parseGoDuration(text) ?? 0) >= MIN_MS;
}

function looksLikeCrontab(text: string): boolean {
  const fields = text.replace(/^TZ=\S+\s+/, '').trim();
  return fields.startsWith('@') || [5, 6].includes(fields.split(/\s+/).length);
}
