import type { Json } from '../lib/json.ts';

/** One JSON patch operation (RFC 6902) on values. `path` is an RFC 6901 pointer that starts with the section's key. */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'test'; readonly path: string; readonly value: Json };
