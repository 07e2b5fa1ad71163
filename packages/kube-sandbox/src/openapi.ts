import { createHash } from 'node:crypto';
import type { Fields } from './json-access.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';

const FIELD_VALIDATION = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };

/**
 * `/openapi/v3`: which group versions have a document. Clients read from it only that the server validates fields by
 * itself.
 */
export function openApiIndex(kinds: readonly ServedKind[]): Fields {
  const paths: Record<string, Fields> = {};
  for (const { group, version } of kinds) {
    const path = groupVersionPath(group, version);
    if (paths[path] !== undefined) continue;
    const text = JSON.stringify(openApiDocument(kinds, group, version));
    const hash = createHash('sha256').update(text).digest('hex').toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/** The document of one group version: one path a kind, which says that a patch takes `fieldValidation`. */
export function openApiDocument(kinds: readonly ServedKind[], group: string, version: string): Fields {
  const paths: Record<string, Fields> = {};
  const root = groupVersionPath(group, version);
  for (const kind of kinds) {
    if (kind.group !== group || kind.version !== version) continue;
    const scope = kind.isNamespaced ? 'namespaces/{namespace}/' : '';
    paths[`/${root}/${scope}${kind.plural}/{name}`] = {
      patch: {
        parameters: [FIELD_VALIDATION],
        responses: {},
        'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
      },
    };
  }
  return { openapi: '3.0.0', info: { title: `sandbox ${apiVersionOf({ group, version })}`, version }, paths };
}

function groupVersionPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
