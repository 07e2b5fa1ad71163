const DIGITS = /^[0-9]+$/;

/**
 * Whether version `a` of an object or a list is older than `b`. Versions that are not decimal numbers cannot be compared
 * and are never older.
 */
export function isOlderVersion(a: string, b: string): boolean {
  if (!DIGITS.test(a) || !DIGITS.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}
