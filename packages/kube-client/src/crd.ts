// Reads CustomResourceDefinitions from the `crds/` files of a module and drops schema keys that the API
// server does not know. The result is compared with and written to the cluster elsewhere.

import { messageOf } from '@addon-operator/base/errors';
import { fieldsOf, isObject, type Json, stringOf, withRoundedNumbers } from '@addon-operator/json';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';

type Fields = Readonly<Record<string, unknown>>;

/** A CustomResourceDefinition as a file of a module has it. */
export interface Crd {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Without schema keys that the API server would drop. */
  readonly spec: Fields;
}

interface CrdFile {
  readonly crds: readonly Crd[];
  /** One sentence for each document that is no CRD; the others count all the same. */
  readonly problems: readonly string[];
}

export const CRD_API_VERSION = 'apiextensions.k8s.io/v1';
export const CRD_KIND = 'CustomResourceDefinition';

/** Reads the CRDs in a file of one or more YAML documents. Documents that hold nothing are skipped. */
export function parseCrdFile(content: string, path: string): CrdFile {
  const crds: Crd[] = [];
  const problems: string[] = [];
  for (const document of yamlDocuments(content)) {
    try {
      const { value } = parseYaml(document.text, {
        source: path,
        booleans: 'yaml-1.1',
      });
      // The API server holds bounds of schemas as floating point numbers too.
      if (value !== null) crds.push(crdOf(withRoundedNumbers(value)));
    } catch (error) {
      const problem = messageOf(error);
      problems.push(problem.startsWith(path) ? problem : `${path}:${document.line}: ${problem}`);
    }
  }
  return { crds, problems };
}

/** Checks one document. Throws TypeError with the problem. */
function crdOf(value: Json): Crd {
  const object = fieldsOf(value);
  const { apiVersion, kind } = object;
  if (apiVersion !== CRD_API_VERSION || kind !== CRD_KIND) {
    throw new TypeError(
      `invalid CRD document apiversion/kind: '${stringOf(apiVersion)}/${stringOf(kind)}' (crds/ holds '${CRD_API_VERSION}/${CRD_KIND}' only, other objects belong in templates/)`,
    );
  }
  const metadata = fieldsOf(object['metadata']);
  const name = stringOf(metadata['name']);
  if (name === '' || !isObject(object['spec']))
    throw new TypeError('a CRD needs metadata.name and a spec that is a mapping');
  return {
    name,
    labels: stringsOf(metadata['labels']),
    annotations: stringsOf(metadata['annotations']),
    spec: withKnownSchemaKeys(object['spec']),
  };
}

/** The versions in the spec of a CRD. */
export function versionsOf(spec: Fields): readonly Fields[] {
  return Array.isArray(spec['versions']) ? spec['versions'].map(fieldsOf) : [];
}

/** The spec with cleaned schemas in all versions. */
function withKnownSchemaKeys(spec: Fields): Fields {
  const versions = Array.isArray(spec['versions']) ? spec['versions'] : [];
  return {
    ...spec,
    versions: versions.map((version: unknown) => {
      if (!isObject(version) || !isObject(version['schema'])) return version;
      const { openAPIV3Schema, ...rest } = version['schema'];
      return { ...version, schema: { ...rest, openAPIV3Schema: cleanSchema(openAPIV3Schema) } };
    }),
  };
}

/** Schema keys whose values are schemas by name: their keys are names of users, whatever they begin with. */
const MAPS_OF_SCHEMAS = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);
/** Schema keys that hold plain data. */
const DATA = new Set(['default', 'example', 'enum', 'required', 'x-kubernetes-validations']);

/** Without extension keys (`x-…`) other than those of Kubernetes. */
function cleanSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanSchema);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-') || key.startsWith('x-kubernetes-'))
      .map(([key, value]) => [key, cleanValue(key, value)]),
  );
}

/**
 * Maps of schemas are entered by value only, plain data not at all: both may hold keys that begin with `x-`.
 */
function cleanValue(key: string, value: unknown): unknown {
  if (DATA.has(key)) return value;
  if (!MAPS_OF_SCHEMAS.has(key) || !isObject(value)) return cleanSchema(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, cleanSchema(schema)]));
}

function stringsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}
