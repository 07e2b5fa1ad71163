import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
export function recordUpdate(
  _current: ResourceObject | undefined,
  next: ResourceObject,
  _kind: ServedKind,
  _writer: { readonly manager: string; readonly time: string; readonly subresource: string },
): ResourceObject {
  return next;
}
