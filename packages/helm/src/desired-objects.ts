import { Buffer } from 'node:buffer';
import { messageOf } from '@addon-operator/base/errors';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { isHook, type ManifestObject, unfolded } from './manifest-object.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One object as helm applied it. */
export interface DesiredObject extends ManifestObject {
  /** With what helm adds to each object; keys that are null are left out, they mean "not set". */
  readonly fields: Fields;
}

interface ReleaseIdentity {
  readonly release: string;
  readonly namespace: string;
}

/** Objects as they were applied, and what could not be read. */
export interface DesiredState {
  readonly objects: readonly DesiredObject[];
  /** One sentence for each document that cannot be read. */
  readonly problems: readonly string[];
}

/**
 * The objects of a release in full; those without a name, and hooks, are left out.
 *
 * @param texts one YAML document each
 * @param read parses one as helm does
 */
export function desiredObjects(
  texts: readonly string[],
  read: (text: string) => unknown,
  identity: ReleaseIdentity,
): DesiredState {
  const objects: DesiredObject[] = [];
  const problems: string[] = [];
  for (const text of texts) {
    try {
      const object = read(text);
      if (!isObject(object) || isHook(object)) continue;
      for (const each of unfolded(object)) objects.push(...desiredObject(each, identity));
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { objects, problems };
}

function desiredObject(object: Fields, identity: ReleaseIdentity): readonly DesiredObject[] {
  const { apiVersion, kind } = object;
  const metadata = fieldsOf(object['metadata']);
  const { name, namespace } = metadata;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  if (typeof name !== 'string' || name === '') return [];
  const plain = withoutNulls(asKept(object));
  return [
    {
      apiVersion,
      kind,
      name,
      namespace: stringOf(namespace),
      fields: { ...plain, metadata: withHelmMarks(withoutNulls(metadata), identity) },
    },
  ];
}

/** helm writes whose object it is onto each. */
function withHelmMarks(metadata: Fields, { release, namespace }: ReleaseIdentity): Fields {
  const labels = fieldsOf(metadata['labels']);
  const annotations = fieldsOf(metadata['annotations']);
  return {
    ...metadata,
    labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      ...annotations,
      'meta.helm.sh/release-name': release,
      'meta.helm.sh/release-namespace': namespace,
    },
  };
}

/** An object as it is in the cluster after it was applied, if no client changes it. */
function asKept(object: Fields): Fields {
  const { apiVersion, kind } = object;
  if (apiVersion === 'v1' && kind === 'Secret') return withEncodedData(object);
  if (kind !== 'ClusterRole' || !isObject(object['aggregationRule'])) return object;
  // A controller of Kubernetes fills them from other roles, whatever the chart says.
  const { rules: _filled, ...rest } = object;
  return rest;
}

/** The server turns `stringData` into `data`, and only that can be read back. */
function withEncodedData(secret: Fields): Fields {
  const { stringData, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const encoded = Object.entries(stringData).map(([key, text]): [string, string] => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return {
    ...rest,
    data: { ...fieldsOf(rest['data']), ...Object.fromEntries(encoded) },
  };
}

function withoutNulls(object: Fields): Fields {
  const kept = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept.map(([key, value]) => [key, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return isObject(value) ? withoutNulls(value) : value;
}
