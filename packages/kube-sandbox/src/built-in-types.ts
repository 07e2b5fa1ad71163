/**
 * The types of built-in objects, from the OpenAPI schemas that the API server publishes (`built-in-data.ts`, generated).
 * Bodies are decoded by them, defaults and merge rules are found along them, and OpenAPI documents are made of them. The
 * data are unpacked at the first use, which takes some milliseconds.
 */

import { isObject } from '@addon-operator/json';
import { BUILT_IN_SCHEMAS, DESCRIPTIONS, GO_TYPES, PROTOBUF_FIELDS } from './built-in-data.ts';
import { type Fields, fieldsAt, listAt, stringAt, withoutFields } from './json-access.ts';
import type { ServedKind } from './kinds.ts';
import { unpacked } from './packed-json.ts';

/** The type of a value in a built-in object; `goType` is how messages of the API server name it. */
export type ValueType = { readonly goType: string } & (
  | { readonly type: 'any' | 'bool' | 'bytes' | 'int32' | 'int64' | 'float64' | 'string' }
  | { readonly type: 'time' | 'microTime' | 'quantity' | 'intOrString' }
  | { readonly type: 'list' | 'map'; readonly item: ValueType }
  | StructType
);

export interface StructType {
  readonly type: 'struct';
  readonly goType: string;
  readonly schemaName: string;
  /** `DeploymentSpec` */
  readonly name: string;
  /** Types of the fields by name; computed when the first field is read, because types refer to each other. */
  readonly fields: ReadonlyMap<string, ValueType>;
  /** Fields that every value has: structs that are never left out, and the defaults that the schema has. */
  readonly defaults: Fields;
}

const REFERENCE_PREFIX = '#/components/schemas/';

/** Types that are read by functions of their own in the API server, or hold any JSON. */
const SPECIAL: Readonly<Record<string, ValueType>> = {
  Quantity: { type: 'quantity', goType: 'resource.Quantity' },
  IntOrString: { type: 'intOrString', goType: 'intstr.IntOrString' },
  Time: { type: 'time', goType: 'v1.Time' },
  MicroTime: { type: 'microTime', goType: 'v1.MicroTime' },
  RawExtension: { type: 'any', goType: 'runtime.RawExtension' },
  FieldsV1: { type: 'any', goType: 'v1.FieldsV1' },
  JSON: { type: 'any', goType: 'v1.JSON' },
  JSONSchemaPropsOrArray: { type: 'any', goType: 'v1.JSONSchemaPropsOrArray' },
  JSONSchemaPropsOrBool: { type: 'any', goType: 'v1.JSONSchemaPropsOrBool' },
  JSONSchemaPropsOrStringArray: { type: 'any', goType: 'v1.JSONSchemaPropsOrStringArray' },
};

interface Types {
  readonly schemas: Fields;
  readonly goTypes: Fields;
  /** Names of schemas by `group/version/kind`. */
  readonly names: ReadonlyMap<string, string>;
  readonly structs: Map<string, StructType>;
}

/** Unpacked when the first object is written, which is at the start of a sandbox. */
let loaded: Types | undefined;

function types(): Types {
  return (loaded ??= load());
}

function load(): Types {
  const schemas = fieldsAt(unpacked(BUILT_IN_SCHEMAS));
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    for (const kind of listAt(schema, 'x-kubernetes-group-version-kind')) {
      names.set(`${stringAt(kind, 'group')}/${stringAt(kind, 'version')}/${stringAt(kind, 'kind')}`, name);
    }
  }
  return { schemas, goTypes: fieldsAt(unpacked(GO_TYPES)), names, structs: new Map() };
}

let messages: Fields | undefined;

/** Names of the fields of a protobuf message by their numbers; see `protobufFields()` in `test/generate-schemas.ts`. */
export function fieldsOfMessage(schemaName: string): Fields {
  messages ??= fieldsAt(unpacked(PROTOBUF_FIELDS));
  return fieldsAt(messages, schemaName);
}

/** The type of a built-in kind; undefined for one that has none. */
export function builtInType(kind: Pick<ServedKind, 'group' | 'version' | 'kind'>): StructType | undefined {
  const name = types().names.get(`${kind.group}/${kind.version}/${kind.kind}`);
  return name === undefined ? undefined : structOf(name);
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The OpenAPI schema of the objects of a kind. */
export function schemaOfKind({ group, version, kind, isCustom, schema = {} }: ServedKind): Fields {
  if (!isCustom) return fieldsAt(types().schemas, types().names.get(`${group}/${version}/${kind}`) ?? '');
  const metadata = { $ref: `${REFERENCE_PREFIX}${OBJECT_META}` };
  return { ...schema, properties: { ...fieldsAt(schema, 'properties'), metadata } };
}

/** A schema with what the type that it refers to says. */
export function resolvedSchema(schema: Fields): Fields {
  const reference = referenceOf(schema);
  return reference === '' ? schema : { ...fieldsAt(types().schemas, reference), ...schema };
}

/** The name of the type that a schema refers to; empty if it describes the value itself. */
function referenceOf(schema: Fields): string {
  const reference = stringAt(schema, '$ref') || stringAt(schema, 'allOf', 0, '$ref');
  return reference.slice(REFERENCE_PREFIX.length);
}

/** The type of `metadata`. */
export function objectMetaType(): StructType {
  return structOf(OBJECT_META);
}

function structOf(schemaName: string): StructType {
  const { structs } = types();
  const known = structs.get(schemaName);
  if (known !== undefined) return known;
  const name = schemaName.split('.').at(-1) ?? '';
  let fields: ReadonlyMap<string, ValueType> | undefined;
  let defaults: Fields | undefined;
  const struct: StructType = {
    type: 'struct',
    goType: goNameOf(schemaName),
    schemaName,
    name,
    get fields() {
      return (fields ??= fieldsOf(schemaName));
    },
    get defaults() {
      return (defaults ??= defaultsOf(struct));
    },
  };
  structs.set(schemaName, struct);
  return struct;
}

function fieldsOf(schemaName: string): ReadonlyMap<string, ValueType> {
  const { schemas, goTypes } = types();
  const properties = fieldsAt(schemas, schemaName, 'properties');
  return new Map(
    Object.entries(properties).map(([field, schema]) => {
      const goType = stringAt(goTypes, schemaName, field);
      const type = valueType(fieldsAt(schema));
      return [field, goType === '' ? type : { ...type, goType: goType.replaceAll('[]byte', '[]uint8') }];
    }),
  );
}

const ZEROS: readonly unknown[] = ['', 0, false];

function defaultsOf({ schemaName, fields }: StructType): Fields {
  const properties = Object.entries(fieldsAt(types().schemas, schemaName, 'properties'));
  const values = properties.map(([field, schema]) => [field, fieldsAt(schema)['default']] as const);
  return Object.fromEntries(
    values.filter(([field, value]) =>
      isObject(value) ? fields.get(field)?.type === 'struct' : value !== undefined && !ZEROS.includes(value),
    ),
  );
}

function valueType(schema: Fields): ValueType {
  const reference = referenceOf(schema);
  if (reference !== '') return referencedType(reference);
  switch (schema['type']) {
    case 'array': {
      const item = valueType(fieldsAt(schema, 'items'));
      return { type: 'list', item, goType: `[]${item.goType}` };
    }
    case 'object': {
      if (!isObject(schema['additionalProperties'])) return { type: 'any', goType: 'interface {}' };
      const item = valueType(schema['additionalProperties']);
      return { type: 'map', item, goType: `map[string]${item.goType}` };
    }
    case 'string':
      return stringType(stringAt(schema, 'format'));
    case 'boolean':
      return { type: 'bool', goType: 'bool' };
    case 'integer':
      return schema['format'] === 'int64'
        ? { type: 'int64', goType: 'int64' }
        : { type: 'int32', goType: 'int32' };
    case 'number':
      return { type: 'float64', goType: 'float64' };
    default:
      return { type: 'any', goType: 'interface {}' };
  }
}

function stringType(format: string): ValueType {
  switch (format) {
    case 'byte':
      return { type: 'bytes', goType: '[]uint8' };
    case 'date-time':
      return { type: 'time', goType: 'v1.Time' };
    default:
      return { type: 'string', goType: 'string' };
  }
}

function referencedType(schemaName: string): ValueType {
  const name = schemaName.split('.').at(-1) ?? '';
  const special = SPECIAL[name];
  if (special !== undefined) return special;
  // An alias such as a list of extra values has no fields, so the schema itself says what it is.
  const schema = fieldsAt(types().schemas, schemaName);
  if (schema['properties'] !== undefined || schema['type'] === 'object') return structOf(schemaName);
  return { ...valueType(schema), goType: goNameOf(schemaName) };
}

/** `v1.PodSpec` */
function goNameOf(schemaName: string): string {
  return schemaName.split('.').slice(-2).join('.');
}

const ANY_KIND = 'io.k8s.api.core.v1.ConfigMap';

/** The schema of a custom resource, completed with what all objects have. */
export function customSchema({ group, version, kind, schema = {} }: ServedKind): Fields {
  const common = fieldsAt(describedSchemas(types().schemas), ANY_KIND, 'properties');
  const { apiVersion, kind: kindField, metadata } = common;
  return {
    ...schema,
    properties: {
      apiVersion,
      kind: kindField,
      metadata,
      ...withoutFields(fieldsAt(schema, 'properties'), 'apiVersion', 'kind', 'metadata'),
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
}

/** The schemas of kinds and all that they refer to, with descriptions: a part of an OpenAPI document. */
export function documentSchemas(kinds: readonly ServedKind[]): Fields {
  const { schemas, names } = types();
  const wanted = new Set<string>();
  const visit = (name: string): void => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const reference of referencesIn(schemas[name])) visit(reference);
  };
  for (const { group, version, kind } of kinds) {
    const name = names.get(`${group}/${version}/${kind}`);
    visit(name ?? OBJECT_META);
  }
  const described = describedSchemas(schemas);
  return Object.fromEntries([...wanted].toSorted().map((name) => [name, described[name]]));
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  const { $ref: reference } = value;
  if (typeof reference === 'string') return [reference.slice(REFERENCE_PREFIX.length)];
  return Object.values(value).flatMap(referencesIn);
}

/** Not kept: only `kubectl explain` and clients that validate by themselves read them. */
function describedSchemas(schemas: Fields): Fields {
  const descriptions = unpacked(DESCRIPTIONS);
  let index = 0;
  const described = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(described);
    if (!isObject(value)) return value;
    const description = Array.isArray(descriptions) ? descriptions[index] : '';
    index += 1;
    const fields = Object.entries(value).map(([key, content]) => [key, described(content)] as const);
    return Object.fromEntries(description === '' ? fields : [['description', description], ...fields]);
  };
  return fieldsAt(described(schemas));
}
