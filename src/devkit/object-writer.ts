import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { stringOf } from '@addon-operator/json';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import type { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';

export interface ObjectWriterOptions {
  readonly patcher: Pick<ObjectPatcher, 'apply'>;
  readonly discovery: Pick<Discovery, 'find' | 'invalidate'>;
  readonly clock: SteadyClock;
}

const CRD = 'CustomResourceDefinition';
/** How often it is looked whether a new kind is served, and how many times. */
const POLL_MS = 20;
const MAX_POLLS = 250;
const DEFAULT_NAMESPACE = 'default';

/** Creates, replaces and deletes objects as a user would do with kubectl; a namespace that is missing is created. */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  /**
   * Creates the object, or replaces it. Resolves for a CRD when its kind is served.
   *
   * @throws OperatorError KUBE_KIND_UNKNOWN, OBJECT_PATCH_FAILED
   */
  async put(given: NewObject, signal: AbortSignal): Promise<void> {
    const { patcher } = this.#options;
    const object = await this.#inNamespace(given, signal);
    const namespace = stringOf(object.metadata['namespace']);
    if (namespace !== '')
      await patcher.apply([{ operation: 'CreateIfNotExists', object: namespaceObject(namespace) }], signal);
    await patcher.apply([{ operation: 'CreateOrUpdate', object }], signal);
    if (object.kind === CRD) await this.#untilServed(object, signal);
  }

  /** Changes the status of an object that exists, as a controller would. @throws OperatorError KUBE_KIND_UNKNOWN, OBJECT_PATCH_FAILED */
  async putStatus(given: NewObject, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind, metadata, status } = await this.#inNamespace(given, signal);
    const [namespace, name] = [stringOf(metadata['namespace']), stringOf(metadata['name'])];
    const target = { apiVersion, kind, namespace, name };
    const patch = { target, subresource: 'status', ignoreMissingObject: false, mergePatch: { status } };
    await this.#options.patcher.apply([{ operation: 'MergePatch', ...patch }], signal);
  }

  /** Deletes the object if it is there. @throws OperatorError KUBE_KIND_UNKNOWN, OBJECT_PATCH_FAILED */
  async remove(given: NewObject, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind, metadata } = await this.#inNamespace(given, signal);
    const [namespace, name] = [stringOf(metadata['namespace']), stringOf(metadata['name'])];
    const target = { apiVersion, kind, namespace, name };
    await this.#options.patcher.apply([{ operation: 'DeleteInBackground', target }], signal);
  }

  async #inNamespace(object: NewObject, signal: AbortSignal): Promise<NewObject> {
    const { isNamespaced } = await this.#options.discovery.find(object.apiVersion, object.kind, signal);
    if (!isNamespaced || stringOf(object.metadata['namespace']) !== '') return object;
    return { ...object, metadata: { ...object.metadata, namespace: DEFAULT_NAMESPACE } };
  }

  async #untilServed({ spec }: NewObject, signal: AbortSignal): Promise<void> {
    const { discovery, clock } = this.#options;
    const { group, names, versions } = spec as {
      readonly group: string;
      readonly names: { readonly kind: string };
      readonly versions: readonly { readonly name: string; readonly served: boolean }[];
    };
    const version = versions.find(({ served }) => served);
    if (version === undefined) return;
    for (let poll = 0; poll < MAX_POLLS; poll += 1) {
      discovery.invalidate();
      const found = await known(discovery.find(`${group}/${version.name}`, names.kind, signal));
      if (found !== undefined) return;
      await clock.sleep(POLL_MS, signal);
    }
  }
}

function namespaceObject(name: string): NewObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function known(finding: Promise<ApiResource>): Promise<ApiResource | undefined> {
  try {
    return await finding;
  } catch (error) {
    if (hasCode(error, 'KUBE_KIND_UNKNOWN')) return undefined;
    throw error;
  }
}
