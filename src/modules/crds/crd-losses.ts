import { canonicalJson, fieldsOf, isObject } from '@addon-operator/json';
import { versionsOf } from '@addon-operator/kube-client/crd';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a CRD loses when its spec is replaced by another one: versions, fields at any depth, and rules of fields, which
 * may be stricter. Additional versions and fields are no loss.
 */
export function crdLosses(current: Fields, next: Fields): readonly string[] {
  const others = new Map(versionsOf(next).map((version) => [version['name'], version]));
  return versionsOf(current).flatMap((version) => {
    const name = String(version['name']);
    const other = others.get(version['name']);
    if (other === undefined) return [`version ${name}`];
    return [
      ...(version['served'] === true && other['served'] !== true ? [`version ${name} as served`] : []),
      ...(version['storage'] === true && other['storage'] !== true ? [`version ${name} as stored`] : []),
      ...schemaLosses(schemaOf(version), schemaOf(other), name),
    ];
  });
}

function schemaOf(version: Fields): Fields {
  return fieldsOf(fieldsOf(version['schema'])['openAPIV3Schema']);
}

function schemaLosses(current: Fields, next: Fields, path: string): readonly string[] {
  const others = new Map(fieldsBelow(next, path));
  return [
    ...(rulesOf(current) === rulesOf(next) ? [] : [`the rules of ${path}`]),
    ...fieldsBelow(current, path).flatMap(([field, schema]) => {
      const other = others.get(field);
      return other === undefined ? [`field ${field}`] : schemaLosses(schema, other, field);
    }),
  ];
}

function fieldsBelow({ properties, items, additionalProperties }: Fields, path: string): [string, Fields][] {
  return [
    ...Object.entries(fieldsOf(properties)).map(([name, schema]): [string, Fields] => [
      `${path}.${name}`,
      fieldsOf(schema),
    ]),
    ...(isObject(items) ? [[`${path}[]`, items] satisfies [string, Fields]] : []),
    ...(isObject(additionalProperties)
      ? [[`${path}.*`, additionalProperties] satisfies [string, Fields]]
      : []),
  ];
}

/** Keys of a schema that accept or refuse nothing by themselves. */
const WITHOUT_RULES = new Set(['properties', 'description', 'title', 'example', 'externalDocs']);
const OF_FIELDS = ['items', 'additionalProperties'];

function rulesOf(schema: Fields): string {
  const rules = Object.entries(schema).filter(
    ([key, value]) => !WITHOUT_RULES.has(key) && !(OF_FIELDS.includes(key) && isObject(value)),
  );
  return canonicalJson(Object.fromEntries(rules));
}
