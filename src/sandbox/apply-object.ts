import type { ApiState, WriteOptions } from './api-state.ts';
import type { Fields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';
import { notImplemented } from './status-error.ts';
export interface ApplyRequest {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string;
  readonly applied: Fields;
  readonly isForced: boolean;
}
export function applyObject(
  _state: ApiState,
  _request: ApplyRequest,
  _options: WriteOptions,
): { object: ResourceObject; isCreated: boolean } {
  throw notImplemented('server-side apply');
}
