import { isObject, type Json } from '../lib/json.ts';
import { whyNotExact } from './yaml-scalars.ts';

const MAX_DEPTH = 100;

/** Whether parsed JSON can stand in values: at most 100 levels deep, and no number that a double would change. */
export function isExactJson(value: unknown, depth = 0): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return whyNotExact(value) === undefined;
  if (depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isExactJson(item, depth + 1));
  return isObject(value) && Object.values(value).every((item) => isExactJson(item, depth + 1));
}
