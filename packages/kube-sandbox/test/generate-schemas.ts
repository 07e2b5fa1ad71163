import { brotliCompressSync, constants } from 'node:zlib';
import { isObject } from '@addon-operator/json';

type Fields = Readonly<Record<string, unknown>>;

/** The types of built-in kinds, as the package keeps them. */
export interface BuiltInSchemas {
  /** Schemas by name, as an API server publishes them, without descriptions. */
  readonly schemas: Fields;
  /** Descriptions, in the order in which {@link withoutDescriptions} meets the objects that have or lack one. */
  readonly descriptions: readonly string[];
}

/** Joins the schemas of OpenAPI v3 documents, one for each group version. */
export function joinSchemas(documents: readonly Fields[]): BuiltInSchemas {
  const all: Record<string, unknown> = {};
  for (const document of documents) {
    const components = isObject(document['components']) ? document['components'] : {};
    Object.assign(all, components['schemas']);
  }
  const descriptions: string[] = [];
  const names = Object.keys(all).toSorted();
  const sorted = Object.fromEntries(names.map((name) => [name, all[name]]));
  const schemas = withoutDescriptions(sorted, descriptions);
  return { schemas: isObject(schemas) ? schemas : {}, descriptions };
}

function withoutDescriptions(value: unknown, descriptions: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item, descriptions));
  if (!isObject(value)) return value;
  const { description, ...rest } = value;
  // A property can have this name too, and is an object then.
  const isText = typeof description === 'string';
  descriptions.push(isText ? description : '');
  const kept = isText ? rest : value;
  return Object.fromEntries(
    Object.keys(kept)
      .toSorted()
      .map((key) => [key, withoutDescriptions(kept[key], descriptions)]),
  );
}

const STRUCT = /^type (\w+) struct \{\n([\s\S]*?)^\}/gm;
const FIELD = /^\s+\w+\s+([\w.*[\]]+)\s+`[^`]*json:"(\w+)/gm;

/**
 * Types of fields that OpenAPI does not tell from plain strings, lists and maps, as messages of the API server name them.
 *
 * @param sources Go files with the types of one group version, by the prefix of the names of its schemas
 */
export function goTypes(sources: Readonly<Record<string, string>>, schemas: Fields): Fields {
  const types: Record<string, Record<string, string>> = {};
  for (const [prefix, text] of Object.entries(sources)) {
    const packageName = prefix.split('.').at(-1) ?? '';
    for (const [, name = '', body = ''] of text.matchAll(STRUCT)) {
      const schema = schemas[`${prefix}.${name}`];
      if (!isObject(schema)) continue;
      const fields: Record<string, string> = {};
      for (const [, type = '', field = ''] of body.matchAll(FIELD)) {
        const qualified = qualify(type.replace(/^\*/, ''), packageName);
        if (/^(?:string|bool|int32|int64|float64)$/.test(qualified)) continue;
        const property = isObject(schema['properties']) ? schema['properties'][field] : undefined;
        if (qualified !== typeName(property)) fields[field] = qualified;
      }
      if (Object.keys(fields).length > 0) types[`${prefix}.${name}`] = fields;
    }
  }
  return types;
}

const PREDECLARED = /^(?:string|bool|byte|int|int32|int64|float64)$/;

/** `[]LocalObjectReference` in package v1 is `[]v1.LocalObjectReference`. */
function qualify(type: string, packageName: string): string {
  return type.replaceAll(/\*|(?<!\.)\b[A-Za-z]\w*(?:\.\w+)?/g, (name) => {
    if (name === '*' || name === 'map' || PREDECLARED.test(name)) return name;
    const [owner = '', member] = name.split('.');
    if (member === undefined) return `${packageName}.${owner}`;
    return `${/^(?:meta)?v1$|^corev1$/.test(owner) ? 'v1' : owner}.${member}`;
  });
}

/** The Go type that a schema stands for, as far as it says. */
export function typeName(schema: unknown): string {
  if (!isObject(schema)) return '';
  const { allOf, $ref, type, format, items, additionalProperties } = schema;
  if (Array.isArray(allOf)) return typeName(allOf[0]);
  if (typeof $ref === 'string') return $ref.split('/').at(-1)?.split('.').slice(-2).join('.') ?? '';
  if (type === 'array') return `[]${typeName(items)}`;
  if (isObject(additionalProperties)) return `map[string]${typeName(additionalProperties)}`;
  if (type === 'string' && format === 'byte') return '[]uint8';
  if (type === 'integer') return typeof format === 'string' ? format : 'int';
  return type === 'number' ? 'float64' : type === 'boolean' ? 'bool' : typeof type === 'string' ? type : '';
}

/** The text of `src/built-in-data.ts`. */
export function dataModule(
  version: string,
  { schemas, descriptions }: BuiltInSchemas,
  types: Fields,
): string {
  return `/** Types of the built-in kinds of Kubernetes ${version}: compressed JSON, as Base64. See \`README.md\` for how it is made. */
export const BUILT_IN_SCHEMAS =
  '${compressed(schemas)}';
export const GO_TYPES =
  '${compressed(types)}';
export const DESCRIPTIONS =
  '${compressed(descriptions)}';
`;
}

function compressed(value: unknown): string {
  const text = JSON.stringify(value);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  return brotliCompressSync(text, { params }).toString('base64');
}
