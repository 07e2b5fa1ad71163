import { escapeSegment } from '@addon-operator/json/pointer';

/**
 * The JSON pointer for a place in the values: keys joined by dots, or a pointer already.
 *
 * @throws TypeError for anything that names no place
 */
export function pointerOf(path: string): string {
  if (typeof path !== 'string' || path === '')
    throw new TypeError('the path of a value must be a string such as web.replicas');
  if (path.startsWith('/')) return path;
  const keys = path.split('.');
  if (keys.includes('')) throw new TypeError(`the path '${path}' has an empty key`);
  return `/${keys.map(escapeSegment).join('/')}`;
}
