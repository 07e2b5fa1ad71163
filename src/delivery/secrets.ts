/** Secrets that delivery keeps in the cluster, and the contents of Secrets and ConfigMaps that sources name. */

import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';
import { CONFIG_MAPS } from '@addon-operator/kube-client/config-map-object';
import {
  hasStatus,
  type KubeClient,
  metadataOf,
  requestIfPresent,
} from '@addon-operator/kube-client/kube-client';
import { resourcePath, SECRETS } from '@addon-operator/kube-client/kube-object';
import type { KeyRef } from './spec-shapes.ts';

/** Bytes by key. */
export type SecretData = Readonly<Record<string, Uint8Array>>;

/** Secrets with one label, in one namespace. */
export class SecretStore {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #label: string;

  /** @param label name of the label that all of them have */
  constructor(kube: KubeClient, namespace: string, label: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#label = label;
  }

  async read(name: string, signal: AbortSignal): Promise<SecretData | undefined> {
    const path = resourcePath(SECRETS, this.#namespace, name);
    const secret = await requestIfPresent(this.#kube, { method: 'GET', path }, signal);
    return secret === undefined ? undefined : dataOf(secret);
  }

  /** All of them, by name. */
  async list(signal: AbortSignal): Promise<ReadonlyMap<string, SecretData>> {
    const path = resourcePath(SECRETS, this.#namespace);
    const query = { labelSelector: this.#label };
    const { items } = fieldsOf(await this.#kube.request({ method: 'GET', path, query }, signal));
    const all: readonly unknown[] = Array.isArray(items) ? items : [];
    return new Map(all.map((item) => [String(metadataOf(item)['name']), dataOf(item)]));
  }

  /** Creates or replaces a Secret. */
  async write(name: string, data: SecretData, signal: AbortSignal): Promise<void> {
    const encoded = Object.entries(data).map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]);
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: this.#namespace, labels: { [this.#label]: 'true' } },
      type: 'Opaque',
      data: Object.fromEntries(encoded),
    };
    try {
      const path = resourcePath(SECRETS, this.#namespace, name);
      await this.#kube.request({ method: 'PUT', path, body }, signal);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      const path = resourcePath(SECRETS, this.#namespace);
      await this.#kube.request({ method: 'POST', path, body }, signal);
    }
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    const path = resourcePath(SECRETS, this.#namespace, name);
    await requestIfPresent(this.#kube, { method: 'DELETE', path }, signal);
  }
}

function dataOf(secret: unknown): SecretData {
  const entries = Object.entries(fieldsOf(fieldsOf(secret)['data']));
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(String(value), 'base64')]));
}

/**
 * The content that a source refers to.
 *
 * @throws OperatorError SOURCE_INVALID naming the object and the key that is missing
 */
export async function readReference(
  kube: KubeClient,
  namespace: string,
  { configMapRef, secretRef }: KeyRef,
  signal: AbortSignal,
): Promise<string> {
  const ref = configMapRef ?? secretRef;
  const isSecret = configMapRef === undefined;
  if (ref === undefined) throw new OperatorError('SOURCE_INVALID', 'a reference names no object');
  const { name, key } = ref;
  const what = `${isSecret ? 'Secret' : 'ConfigMap'} ${namespace}/${name}`;
  const path = resourcePath(isSecret ? SECRETS : CONFIG_MAPS, namespace, name);
  const object = await requestIfPresent(kube, { method: 'GET', path }, signal);
  if (object === undefined) throw new OperatorError('SOURCE_INVALID', `${what} does not exist: create it`);
  const data = fieldsOf(object)['data'];
  const keys = isObject(data) ? Object.keys(data) : [];
  const only = key ?? (keys.length === 1 ? keys[0] : undefined);
  const value = only === undefined || !isObject(data) ? undefined : data[only];
  if (typeof value !== 'string') {
    const lack = key === undefined ? `has ${keys.length} keys: name one` : `has no key ${key}`;
    throw new OperatorError('SOURCE_INVALID', `${what} ${lack}`);
  }
  return isSecret ? Buffer.from(value, 'base64').toString() : value;
}
