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
/** A field, or an embedded struct, which has no name of its own. */
const NUMBERED = /^\s+(?:\w+\s+)?(\*?)([\w.*[\]]+)\s+`(?=[^`]*json:"(\w*))[^`]*protobuf:"\w+,(\d+)/gm;

/**
 * Types of fields that OpenAPI does not tell from plain strings, lists and maps, as messages of the API server name them.
 *
 * @param sources Go files with the types of one group version, by the prefix of the names of its schemas
 */
export function goTypes(sources: Readonly<Record<string, string>>, schemas: Fields): Fields {
  const types: Record<string, Record<string, string>> = {};
  for (const { prefix, name, body } of structsIn(sources)) {
    const schema = schemas[`${prefix}.${name}`];
    if (!isObject(schema)) continue;
    const fields: Record<string, string> = {};
    for (const [, type = '', field = ''] of body.matchAll(FIELD)) {
      const qualified = qualify(type.replace(/^\*/, ''), prefix.split('.').at(-1) ?? '');
      if (/^(?:string|bool|int32|int64|float64)$/.test(qualified)) continue;
      const property = isObject(schema['properties']) ? schema['properties'][field] : undefined;
      if (qualified !== typeName(property)) fields[field] = qualified;
    }
    if (Object.keys(fields).length > 0) types[`${prefix}.${name}`] = fields;
  }
  return types;
}

/**
 * Fields of protobuf messages by their numbers, by the name of the type. `*name` is a pointer: its zero is a value, where that of
 * others means that there is none. `=Type` is an embedded type: its fields are those of the outer one in JSON.
 */
export function protobufFields(sources: Readonly<Record<string, string>>): Fields {
  const types: Record<string, Record<string, string>> = {};
  for (const { prefix, name, body } of structsIn(sources)) {
    const fields: Record<string, string> = {};
    for (const [, pointer = '', type = '', field = '', number = ''] of body.matchAll(NUMBERED))
      fields[number] = field === '' ? `=${prefix}.${type}` : `${pointer}${field}`;
    if (Object.keys(fields).length > 0) types[`${prefix}.${name}`] = fields;
  }
  return types;
}

function structsIn(
  sources: Readonly<Record<string, string>>,
): readonly { readonly prefix: string; readonly name: string; readonly body: string }[] {
  return Object.entries(sources).flatMap(([prefix, text]) =>
    [...text.matchAll(STRUCT)].map(([, name = '', body = '']) => ({ prefix, name, body })),
  );
}

/** Resources that the sandbox serves, by group version, in the order of its discovery documents. */
const SERVED: Readonly<Record<string, string>> = {
  v1: 'configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services',
  'apps/v1': 'controllerrevisions daemonsets deployments replicasets statefulsets',
  'events.k8s.io/v1': 'events',
  'authentication.k8s.io/v1': 'selfsubjectreviews tokenreviews',
  'authorization.k8s.io/v1':
    'localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews',
  'autoscaling/v2': 'horizontalpodautoscalers',
  'batch/v1': 'cronjobs jobs',
  'networking.k8s.io/v1': 'ingressclasses ingresses networkpolicies',
  'policy/v1': 'poddisruptionbudgets',
  'rbac.authorization.k8s.io/v1': 'clusterrolebindings clusterroles rolebindings roles',
  'storage.k8s.io/v1': 'csidrivers csinodes storageclasses volumeattachments',
  'admissionregistration.k8s.io/v1':
    'mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
  'apiextensions.k8s.io/v1': 'customresourcedefinitions',
  'scheduling.k8s.io/v1': 'priorityclasses',
  'coordination.k8s.io/v1': 'leases',
  'node.k8s.io/v1': 'runtimeclasses',
  'discovery.k8s.io/v1': 'endpointslices',
};

/** The paths of the group versions that the sandbox serves. */
export const SERVED_PATHS: readonly string[] = Object.keys(SERVED).map((groupVersion) =>
  groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`,
);

const SUBRESOURCES = ['finalize', 'scale', 'status'];

/** The kinds that the sandbox serves, as the resource lists of the API server (`/api/v1`, `/apis/apps/v1`) describe them. */
export function builtInKinds(lists: readonly Fields[]): readonly Fields[] {
  return Object.entries(SERVED).flatMap(([groupVersion, names]) => {
    const list = lists.find((each) => each['groupVersion'] === groupVersion);
    const resources = Array.isArray(list?.['resources']) ? list['resources'].filter(isObject) : [];
    const [version = '', group = ''] = groupVersion.split('/').toReversed();
    return names.split(' ').map((plural) => {
      const resource = resources.find(({ name }) => name === plural) ?? {};
      const subresources = SUBRESOURCES.filter((each) =>
        resources.some(({ name }) => name === `${plural}/${each}`),
      );
      return {
        group,
        version,
        kind: resource['kind'],
        plural,
        singular: resource['singularName'],
        shortNames: resource['shortNames'] ?? [],
        categories: resource['categories'] ?? [],
        isNamespaced: resource['namespaced'],
        verbs: resource['verbs'],
        subresources,
      };
    });
  });
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

/** The data of the API server that the package keeps. */
export interface BuiltInData extends BuiltInSchemas {
  readonly kinds: readonly Fields[];
  readonly goTypes: Fields;
  readonly protobufFields: Fields;
}

/** The content of `src/built-in-data.ts`. */
export function dataModule(version: string, data: BuiltInData): string {
  return `/** Types of the built-in kinds of Kubernetes ${version}: compressed JSON, as Base64. See \`README.md\` for how it is made. */
export const BUILT_IN_SCHEMAS =
  '${compressed(data.schemas)}';
export const KINDS =
  '${compressed(data.kinds)}';
export const GO_TYPES =
  '${compressed(data.goTypes)}';
export const PROTOBUF_FIELDS =
  '${compressed(data.protobufFields)}';
export const DESCRIPTIONS =
  '${compressed(data.descriptions)}';
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
