import { isObject } from '@addon-operator/json';
import { parseBodyJson } from './body-json.ts';
import type { ServedKind } from './kinds.ts';
import { MergeType } from './merge-type.ts';
import { mediaTypeOf } from './object-body.ts';
import { applyJsonPatch } from './patch-json.ts';
import { applyMergePatch } from './patch-merge.ts';
import { applyStrategicPatch } from './patch-strategic.ts';
import type { ResourceObject } from './resource-object.ts';
import { messageOf } from './sandbox-error.ts';
import { badRequest, StatusError, unsupportedMediaType } from './status-error.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

const CUSTOM_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

/**
 * The kind of patch that a content type announces.
 *
 * @throws StatusError 415
 */
export function patchTypeOf(contentType: string, kind: Pick<ServedKind, 'isCustom'>): PatchType {
  const type = PATCH_TYPES[mediaTypeOf(contentType)];
  if (type === undefined)
    throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  if (type === 'strategic' && kind.isCustom) throw unsupportedMediaType(CUSTOM_TYPES);
  return type;
}

/**
 * Applies a JSON, merge or strategic merge patch to an object. The handler of PATCH calls it with the stored object and the
 * body, and gives the result to the same checks and the same update as the body of a PUT. Server-side apply does not come
 * here, see `object-apply.ts`.
 *
 * @throws StatusError 400 or 422
 */
export function patchFields(
  current: ResourceObject,
  type: Exclude<PatchType, 'apply'>,
  body: Uint8Array,
  kind: ServedKind,
): Readonly<Record<string, unknown>> {
  const patch = parsePatch(body, type === 'strategic' ? MAX_STRATEGIC_LEVELS : undefined);
  const patched = type === 'json' ? applyJsonPatch(current, patch) : mergeFields(current, type, patch, kind);
  if (!isObject(patched)) throw badRequest('the patched document is not an object');
  return patched;
}

/** Only built-in kinds take such patches, and none of them has fields nested that deep. */
const MAX_STRATEGIC_LEVELS = 1_000;

function parsePatch(body: Uint8Array, maxLevels?: number): unknown {
  try {
    return parseBodyJson(Buffer.from(body).toString('utf8'), maxLevels);
  } catch (error) {
    throw badRequest(`error decoding patch: ${messageOf(error)}`);
  }
}

function mergeFields(
  current: ResourceObject,
  type: 'merge' | 'strategic',
  patch: unknown,
  kind: ServedKind,
): unknown {
  if (!isObject(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  if (type === 'merge') return applyMergePatch(current, patch);
  return applyStrategicPatch(current, patch, MergeType.ofKind(kind));
}
