import { createHash } from 'node:crypto';
import { type BodyResponse, jsonResponse } from './api-request.ts';
import { customSchema, documentSchemas } from './built-in-types.ts';
import type { Fields } from './json-access.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';

const FIELD_VALIDATION = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };

/** `/openapi/v3`: which group versions have a document. */
export function openApiIndex(kinds: readonly ServedKind[]): Fields {
  const paths: Record<string, Fields> = {};
  for (const { group, version } of kinds) {
    const path = groupVersionPath(group, version);
    if (paths[path] !== undefined) continue;
    // What is built in never changes, so the kinds and the schemas of custom resources distinguish documents.
    const text = JSON.stringify(ofGroupVersion(kinds, group, version));
    const hash = createHash('sha256').update(text).digest('hex').toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/**
 * The document of one group version: its types with their descriptions, and one path a kind, which says that a patch takes
 * `fieldValidation`.
 */
export function openApiDocument(kinds: readonly ServedKind[], group: string, version: string): Fields {
  const paths: Record<string, Fields> = {};
  const schemas: Record<string, unknown> = {};
  const root = groupVersionPath(group, version);
  const served = ofGroupVersion(kinds, group, version);
  for (const kind of served) {
    const scope = kind.isNamespaced ? 'namespaces/{namespace}/' : '';
    const type = { group, version, kind: kind.kind };
    paths[`/${root}/${scope}${kind.plural}/{name}`] = {
      get: { responses: {}, 'x-kubernetes-group-version-kind': type },
      patch: { parameters: [FIELD_VALIDATION], responses: {}, 'x-kubernetes-group-version-kind': type },
    };
    if (kind.isCustom) schemas[customName(kind)] = customSchema(kind);
  }
  return {
    openapi: '3.0.0',
    info: { title: `sandbox ${apiVersionOf({ group, version })}`, version },
    paths,
    components: { schemas: { ...documentSchemas(served), ...schemas } },
  };
}

/**
 * `/openapi/v2` with no type in it. Clients read the types from version 3, and look here for those that it does not have:
 * without this document kubectl stops at the look, with it at the kind that is not served. They ask for protobuf.
 */
export function emptySwagger(accept: string): BodyResponse {
  if (!accept.includes('protobuf'))
    return jsonResponse(200, { swagger: '2.0', info: { title: 'sandbox', version: '' }, paths: {} });
  return {
    type: 'body',
    status: 200,
    contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    // Field 1, `swagger`, and the empty field 8, `paths`.
    text: '\u000a\u00032.0\u0042\u0000',
    headers: {},
    warnings: [],
  };
}

function ofGroupVersion(kinds: readonly ServedKind[], group: string, version: string): readonly ServedKind[] {
  return kinds.filter((kind) => kind.group === group && kind.version === version);
}

/** `com.example.v1.Widget` */
function customName({ group, version, kind }: ServedKind): string {
  return [...group.split('.').toReversed(), version, kind].join('.');
}

function groupVersionPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
