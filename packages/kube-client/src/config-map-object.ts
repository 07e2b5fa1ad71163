import { OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { hasStatus, type KubeClient, type KubeRequest } from './kube-client.ts';
import { type ApiResource, resourcePath } from './kube-object.ts';

/** Namespace and name of a ConfigMap. */
export interface ConfigMapRef {
  readonly namespace: string;
  readonly name: string;
}

/** A ConfigMap as it was read. `object` is all of it, to be sent back with changes. */
export interface ConfigMapObject {
  readonly object: Readonly<Record<string, unknown>>;
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
  /** Values in base64. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** The maximum of the API server for the sum of all values. */
export const MAX_CONFIG_MAP_BYTES = 1024 * 1024;

/** The size of all values together, in bytes as the API server counts them. */
export function sizeBytes({ data, binaryData }: Pick<ConfigMapObject, 'data' | 'binaryData'>): number {
  const strings = Object.values(data).map((value) => Buffer.byteLength(value));
  const binaries = Object.values(binaryData).map((value) => Buffer.byteLength(value, 'base64'));
  return [...strings, ...binaries].reduce((sum, size) => sum + size, 0);
}

export const CONFIG_MAPS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  isNamespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
};

/**
 * Reads the ConfigMap; undefined only when the API server reports that this object does not exist.
 *
 * @throws KubeApiError or OperatorError KUBE_UNREACHABLE when it cannot be read
 */
export async function readConfigMap(
  kube: KubeClient,
  { namespace, name }: ConfigMapRef,
  signal: AbortSignal,
): Promise<ConfigMapObject | undefined> {
  try {
    const path = resourcePath(CONFIG_MAPS, namespace, name);
    return parseConfigMap(await kube.request({ method: 'GET', path }, signal));
  } catch (error) {
    // A server or proxy that knows no such path returns 404 too, but without this reason.
    if (hasStatus(error, 404) && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

/** @throws OperatorError KUBE_API when the value is no ConfigMap */
export function parseConfigMap(value: unknown): ConfigMapObject {
  if (isObject(value)) {
    const { metadata, data, binaryData } = value;
    const resourceVersion = isObject(metadata) ? metadata['resourceVersion'] : undefined;
    if (typeof resourceVersion === 'string') {
      return {
        object: value,
        resourceVersion,
        data: recordOfStrings(data),
        binaryData: recordOfStrings(binaryData),
      };
    }
  }
  throw new OperatorError('KUBE_API', 'the API server returned an object that is not a ConfigMap');
}

/** The entries whose value is a string; the API server sends no others. */
function recordOfStrings(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

type Data = Readonly<Record<string, string>>;

/** Writers of one ConfigMap are few; six lost races in a row mean that something writes without a pause. */
const MAX_ATTEMPTS = 6;

/** The data of a ConfigMap; none when it does not exist. @throws KubeApiError, OperatorError KUBE_UNREACHABLE */
export async function readConfigMapData(
  kube: KubeClient,
  ref: ConfigMapRef,
  signal: AbortSignal,
): Promise<Data> {
  return (await readConfigMap(kube, ref, signal))?.data ?? {};
}

/**
 * Writes the data of a ConfigMap over what was read, or creates it when there was none; all else of it stays.
 *
 * @returns the response
 * @throws KubeApiError, also when another client was faster (`isOutrun`); OperatorError KUBE_UNREACHABLE
 */
export async function writeConfigMapData(
  kube: KubeClient,
  { namespace, name }: ConfigMapRef,
  read: ConfigMapObject | undefined,
  data: Data,
  signal: AbortSignal,
  options: Pick<KubeRequest, 'sendBeforeMs'> = {},
): Promise<unknown> {
  const metadata = { name, namespace };
  const body = { ...(read?.object ?? { apiVersion: 'v1', kind: 'ConfigMap', metadata }), data };
  const target =
    read === undefined
      ? ({ method: 'POST', path: resourcePath(CONFIG_MAPS, namespace) } as const)
      : ({ method: 'PUT', path: resourcePath(CONFIG_MAPS, namespace, name) } as const);
  return await kube.request({ ...target, body, ...options }, signal);
}

/**
 * Changes the data of a ConfigMap, which is created if missing (`isThere` is false then). If another client was faster it is read again.
 *
 * @throws KubeApiError, also when others were faster six times in a row; OperatorError KUBE_UNREACHABLE
 */
export async function changeConfigMapData(
  kube: KubeClient,
  ref: ConfigMapRef,
  change: (data: Data, isThere: boolean) => Data,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const current = await readConfigMap(kube, ref, signal);
    const data = change(current?.data ?? {}, current !== undefined);
    try {
      await writeConfigMapData(kube, ref, current, data, signal);
      return;
    } catch (error) {
      if (!hasStatus(error, 409) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
