/** A key as a segment of a JSON pointer (RFC 6901). */
export function escapeSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The key that a segment of a JSON pointer names. */
export function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * The keys that a JSON pointer names one below the other, unescaped; undefined for a text that is none. The empty
 * pointer, which names a whole document, counts as none.
 */
export function parsePointer(pointer: string): readonly [string, ...string[]] | undefined {
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  const [first = '', ...rest] = pointer.slice(1).split('/').map(unescapeSegment);
  return [first, ...rest];
}

/** The reverse of {@link parsePointer}. */
export function formatPointer(keys: readonly string[]): string {
  return keys.map((key) => `/${escapeSegment(key)}`).join('');
}

/** The value that a JSON pointer names in a document; undefined if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const key of pointer.split('/').slice(1).map(unescapeSegment)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && key === 'length') return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
