import type { StatusCause } from './status-error.ts';

export function required(field: string, why: string): StatusCause {
  const message = why === '' ? 'Required value' : `Required value: ${why}`;
  return { reason: 'FieldValueRequired', message, field };
}

export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}`,
    field,
  };
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_GENERATED_BASE = 58;

/** A name made of `base` and five random letters. */
export function generateName(base: string, random: () => number): string {
  let suffix = '';
  for (let count = 0; count < 5; count += 1) {
    suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? '';
  }
  return `${base.slice(0, MAX_GENERATED_BASE)}${suffix}`;
}
