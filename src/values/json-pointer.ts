import { unescapeSegment } from '../lib/json-pointer.ts';

/**
 * The segments of an RFC 6901 pointer, unescaped; undefined if it is none. The empty pointer, which names a whole
 * document, counts as none: nothing in values may be replaced as a whole.
 */
export function parsePointer(pointer: string): readonly [string, ...string[]] | undefined {
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  const [first = '', ...rest] = pointer.slice(1).split('/').map(unescapeSegment);
  return [first, ...rest];
}
