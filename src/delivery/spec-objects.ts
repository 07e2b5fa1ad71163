/** ModuleSources and ModuleInstalls of the cluster: follows them, and writes their status. `spec` is never written. */

import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson, fieldsOf } from '@addon-operator/json';
import { hasStatus, type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import {
  type ApiResource,
  apiVersionOf,
  type KubeObject,
  resourcePath,
} from '@addon-operator/kube-client/kube-object';
import type {
  ReflectorEvent,
  ReflectorSink,
  SharedReflectors,
} from '@addon-operator/kube-client/reflector-sink';
import type { DeliverySpecs } from './delivery.ts';
import { MODULE_INSTALLS, MODULE_SOURCES } from './delivery-crds.ts';
import { installStatus, sourceStatus } from './delivery-status.ts';
import type { DeliveryView } from './delivery-view.ts';
import { parseInstall, parseSource, type SpecDocument } from './parse-spec.ts';

const FIELD_MANAGER = 'addon-operator';

/** The objects of one kind. */
class ObjectSet implements ReflectorSink {
  readonly objects = new Map<string, KubeObject>();
  readonly #onChange: () => void;
  #staged: KubeObject[] = [];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  async stage(objects: readonly KubeObject[]): Promise<void> {
    this.#staged.push(...objects);
    await Promise.resolve();
  }

  discard(): void {
    this.#staged = [];
  }

  commit(): void {
    this.objects.clear();
    for (const object of this.#staged) this.objects.set(object.metadata.name, object);
    this.#staged = [];
    this.#onChange();
  }

  async apply(event: ReflectorEvent): Promise<void> {
    // Cluster-scoped: the key is a slash and the name.
    const name = event.key.slice(1);
    const before = this.objects.get(name);
    if (event.type === 'Deleted') this.objects.delete(name);
    else this.objects.set(name, event.object);
    const hasChanged = event.type === 'Deleted' || !isSameSpec(before, event.object);
    if (hasChanged) this.#onChange();
    await Promise.resolve();
  }
}

/** Writes of a status do not raise the generation. */
function isSameSpec(a: KubeObject | undefined, b: KubeObject): boolean {
  return a?.metadata.uid === b.metadata.uid && a?.metadata['generation'] === b.metadata['generation'];
}

export interface SpecObjectsOptions {
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  readonly log: Logger;
  /** Called with all documents when one of them has changed. */
  readonly onSpecs: (specs: DeliverySpecs) => void;
}

/** The objects of the cluster, kept up to date by two watches. */
export class SpecObjects {
  readonly #options: SpecObjectsOptions;
  readonly #sources: ObjectSet;
  readonly #installs: ObjectSet;
  /** The input from which the status of each object was made last. */
  readonly #shown = new Map<string, string>();
  #isComplete = false;
  #areNewlyDefined = false;

  constructor(options: SpecObjectsOptions) {
    this.#options = options;
    const changed = (): void => {
      if (this.#isComplete) this.#publish();
    };
    this.#sources = new ObjectSet(changed);
    this.#installs = new ObjectSet(changed);
  }

  /**
   * Begins to follow them. Resolves when all are known.
   *
   * @param areNewlyDefined the definitions were created a moment ago
   * @throws KubeApiError, OperatorError KUBE_UNREACHABLE
   */
  async follow(areNewlyDefined: boolean, signal: AbortSignal): Promise<void> {
    const { reflectors } = this.#options;
    await reflectors.subscribe({ resource: MODULE_SOURCES }, this.#sources, signal);
    await reflectors.subscribe({ resource: MODULE_INSTALLS }, this.#installs, signal);
    this.#isComplete = true;
    this.#areNewlyDefined = areNewlyDefined;
    this.#publish();
    this.#areNewlyDefined = false;
  }

  #publish(): void {
    const specs = specsOf([...this.#sources.objects.values()], [...this.#installs.objects.values()]);
    this.#options.onSpecs({ ...specs, areNewlyDefined: this.#areNewlyDefined });
  }

  /** Writes each status that is different. An object that is gone is skipped; other failures are logged, and tried again. */
  async writeStatus({ sources, installs }: DeliveryView, nowMs: number, signal: AbortSignal): Promise<void> {
    for (const view of sources)
      await this.#write(MODULE_SOURCES, this.#sources, view, signal, (before) =>
        sourceStatus(view, { before, nowMs }),
      );
    for (const view of installs)
      await this.#write(MODULE_INSTALLS, this.#installs, view, signal, (before) =>
        installStatus(view, { before, nowMs }),
      );
  }

  async #write(
    resource: ApiResource,
    { objects }: ObjectSet,
    view: { readonly name: string },
    signal: AbortSignal,
    statusOf: (before: unknown) => Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const object = objects.get(view.name);
    if (object === undefined) return;
    const { name, uid, resourceVersion } = object.metadata;
    const key = `${resource.kind}/${name}`;
    // What was written for this view is not computed again: mostly nothing has changed.
    const shown = `${uid} ${resourceVersion} ${JSON.stringify(view)}`;
    if (this.#shown.get(key) === shown) return;
    const before = object['status'];
    const status = statusOf(before);
    if (
      canonicalJson(status) === canonicalJson(before) ||
      (await this.#apply(resource, object, status, signal))
    )
      this.#shown.set(key, shown);
  }

  /** @returns whether it was written */
  async #apply(
    resource: ApiResource,
    { metadata: { name, uid } }: KubeObject,
    status: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { kube, log } = this.#options;
    try {
      await kube.request(
        {
          method: 'PATCH',
          path: resourcePath(resource, undefined, name, 'status'),
          query: { fieldManager: FIELD_MANAGER, force: 'true' },
          contentType: 'application/apply-patch+yaml',
          body: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name, uid }, status },
        },
        signal,
      );
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!hasStatus(error, 404) && !hasStatus(error, 409))
        log.warn({ kind: resource.kind, name, ...errorFields(error) }, 'a status cannot be written');
      return false;
    }
  }
}

/** All documents, read once; none where they are not defined. @throws KubeApiError, OperatorError KUBE_UNREACHABLE */
export async function readSpecObjects(kube: KubeClient, signal: AbortSignal): Promise<DeliverySpecs> {
  const list = async (resource: ApiResource): Promise<readonly KubeObject[]> => {
    const request = { method: 'GET', path: resourcePath(resource) } as const;
    const { items } = fieldsOf(await requestIfPresent(kube, request, signal));
    return Array.isArray(items) ? (items as readonly KubeObject[]) : [];
  };
  return specsOf(await list(MODULE_SOURCES), await list(MODULE_INSTALLS));
}

function specsOf(sources: readonly KubeObject[], installs: readonly KubeObject[]): DeliverySpecs {
  return {
    sources: sources.map((object) => parseSource(documentOf(object))),
    installs: installs
      .filter(({ metadata }) => metadata['deletionTimestamp'] === undefined)
      .map((object) => parseInstall(documentOf(object))),
  };
}

function documentOf(object: KubeObject): SpecDocument {
  const generation = fieldsOf(object.metadata)['generation'];
  return {
    name: object.metadata.name,
    generation: typeof generation === 'number' ? generation : undefined,
    spec: object['spec'],
  };
}
