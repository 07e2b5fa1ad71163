import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, stringAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';
import type { SandboxLog } from './sandbox-log.ts';
import type { ObjectStore } from './sandbox-store.ts';

/** Begins each warning that no API server gives. */
export const SANDBOX_WARNING = 'sandbox: ';

/** By storage: what a cluster does with an object, and the sandbox does not; undefined for nothing. */
const LEFT_OUT: Readonly<Record<string, (object: ResourceObject) => string | undefined>> = {
  'apiextensions.k8s.io/customresourcedefinitions': (definition) => {
    const fields = listAt(definition, 'spec', 'versions').flatMap((version) =>
      fieldsWithRules(fieldsAt(version, 'schema', 'openAPIV3Schema'), stringAt(version, 'name')),
    );
    if (fields.length === 0) return undefined;
    const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : '';
    return `rules in x-kubernetes-validations are not evaluated, a cluster refuses what breaks them (${fields.slice(0, MAX_FIELDS).join(', ')}${more})`;
  },
  'admissionregistration.k8s.io/validatingwebhookconfigurations': () => 'webhooks are not called',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': () => 'webhooks are not called',
  'admissionregistration.k8s.io/validatingadmissionpolicies': () => 'admission policies are not evaluated',
  'batch/cronjobs': () => 'a CronJob creates no Jobs',
  '/resourcequotas': () => 'quotas are not enforced',
  '/limitranges': () => 'limits are not enforced, and give no defaults',
};
const MAX_FIELDS = 3;

/** Warnings about parts of an object that have no effect here, as the content of `Warning` headers. */
export function warningsAbout(storage: string, object: ResourceObject): readonly string[] {
  const text = LEFT_OUT[storage]?.(object);
  return text === undefined ? [] : [`${SANDBOX_WARNING}${text}`];
}

/** Logs the same for each object that is created, and for each that changes in that. Returns a function that ends this. */
export function logLeftOut(store: ObjectStore, log: SandboxLog): () => void {
  return store.subscribe(({ type, storage, object, previous }) => {
    if (type === 'removed') return;
    const known = previous === undefined ? [] : warningsAbout(storage, previous);
    for (const warning of warningsAbout(storage, object))
      if (!known.includes(warning))
        log.warn(
          { kind: object.kind, name: object.metadata.name, namespace: object.metadata.namespace },
          warning,
        );
  });
}

/** Paths of the fields of a schema that have rules, behind `path`. */
function fieldsWithRules(schema: Fields, path: string): readonly string[] {
  const nested = [
    ...Object.entries(fieldsAt(schema, 'properties')).map(
      ([name, field]) => [`${path}.${name}`, field] as const,
    ),
    [`${path}[]`, schema['items']] as const,
    [`${path}.*`, schema['additionalProperties']] as const,
  ];
  const below = nested.flatMap(([place, field]) => (isObject(field) ? fieldsWithRules(field, place) : []));
  return listAt(schema, 'x-kubernetes-validations').length > 0 ? [path, ...below] : below;
}
