/**
 * Module objects as the reconcile webhooks of modules use them: read before a call, status fields written after it, and a
 * finalizer while the webhook has to clean up. The fields of the webhook have a field manager of their own, so the
 * operator and the webhook do not overwrite each other. Conflicts are retried with a fresh read.
 */

import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import {
  hasStatus,
  KubeApiError,
  type KubeClient,
  requestIfPresent,
} from '@addon-operator/kube-client/kube-client';
import { type KubeObject, resourcePath } from '@addon-operator/kube-client/kube-object';
import { HOOK_FIELD_MANAGER, hookStatus } from './hook-status.ts';
import { MODULE_API_VERSION, MODULE_RESOURCE } from './module-crd.ts';
import {
  FIELD_MANAGER,
  HOOK_ANNOTATION,
  HOOK_FINALIZER,
  newModuleObject,
  readModuleObject,
  respondedObject,
} from './module-object.ts';

export interface HookedModulesOptions {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly log: Logger;
  /** Where the operator is, and its `<namespace>/<ConfigMap>`. */
  readonly namespace: string;
  readonly operator: string;
  /** False if the settings disable Module objects: the API server is never queried for them. */
  readonly isOn: boolean;
  /** Whether Modules are kept in the cluster. */
  readonly isKept: (signal: AbortSignal) => Promise<boolean>;
  /** Computes the status of a module that has no object. */
  readonly statusOf: (module: string) => unknown;
}

/** Others write the same object, above all its status. */
const CONFLICT_TRIES = 10;

/**
 * Modules in the cluster as HTTP hooks need them: read with their status, given what the hook reports, and held by a
 * finalizer. Where Modules are not kept, a hook sees one that is made up, and nothing is written.
 */
export class HookedModules {
  readonly #options: HookedModulesOptions;
  #isWarned = false;

  constructor(options: HookedModulesOptions) {
    this.#options = options;
  }

  /** The object of a module, created if it is missing. @throws the errors of the API client */
  async read(module: string, signal: AbortSignal): Promise<KubeObject> {
    const object = await this.#own(module, signal);
    if (object?.['status'] !== undefined) return object;
    const status = this.#options.statusOf(module);
    // One that was made a moment ago has none yet.
    if (object !== undefined) return { ...object, status };
    return { apiVersion: MODULE_API_VERSION, kind: MODULE_RESOURCE.kind, metadata: { name: module }, status };
  }

  /**
   * Writes what a hook wants to have in the status, see {@link hookStatus}.
   *
   * @param sent what {@link read} gave
   * @throws KubeApiError when the API server refuses it
   */
  async report(
    sent: KubeObject,
    returned: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<void> {
    const status = hookStatus(sent, returned);
    const { name, uid } = sent.metadata;
    if (status === undefined) return;
    if (uid === undefined) {
      this.#options.log.debug(
        { module: name },
        'The status from the reconcile webhook is dropped: there is no Module object',
      );
      return;
    }
    await this.#options.kube.request(
      {
        method: 'PATCH',
        path: resourcePath(MODULE_RESOURCE, undefined, name, 'status'),
        query: { fieldManager: HOOK_FIELD_MANAGER, force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: MODULE_API_VERSION, kind: MODULE_RESOURCE.kind, metadata: { name, uid }, status },
      },
      signal,
    );
  }

  /**
   * Keeps the object until {@link release}, and notes the hook on it. A refusal of the cluster is logged once: the
   * module is finalized all the same, only its object may go before.
   *
   * @param definition of the hook, as JSON
   */
  async hold(module: string, definition: string, signal: AbortSignal): Promise<void> {
    const why = await this.#tryToHold(module, definition, signal);
    if (why === undefined) return;
    const level = this.#isWarned ? 'debug' : 'warn';
    this.#isWarned = true;
    this.#options.log[level](
      { module, reason: why },
      'cannot add the finalizer to the Module object; the reconcile webhook still finalizes the module before it is deleted',
    );
  }

  /**
   * The definition of the hook that was stored when the finalizer was added; undefined for one that is not held, or may not be read. The
   * cluster is queried whether or not Modules are kept up to date at the moment: an object that is held stays held.
   *
   * @throws other errors of the API client
   */
  async heldBy(module: string, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#options.isOn) return undefined;
    const object = await this.#getIfAllowed(module, signal);
    if (object === undefined) return undefined;
    const { finalizers, annotations, operator } = readModuleObject(object);
    const isOwn = operator === undefined || operator === this.#options.operator;
    if (!finalizers.includes(HOOK_FINALIZER) || !isOwn) return undefined;
    return annotations[HOOK_ANNOTATION] ?? '';
  }

  /** The object may be deleted. @throws the errors of the API client */
  async release(module: string, signal: AbortSignal): Promise<void> {
    if ((await this.heldBy(module, signal)) === undefined) return;
    await this.#patchMetadata(
      module,
      ({ finalizers }) => ({
        finalizers: finalizers.filter((name) => name !== HOOK_FINALIZER),
        annotations: { [HOOK_ANNOTATION]: null },
      }),
      signal,
    );
  }

  async #tryToHold(module: string, definition: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const object = await this.#own(module, signal);
      if (object === undefined)
        return 'Module objects are not updated, or this one belongs to another operator';
      const { finalizers, annotations } = readModuleObject(object);
      if (finalizers.includes(HOOK_FINALIZER) && annotations[HOOK_ANNOTATION] === definition)
        return undefined;
      await this.#patchMetadata(
        module,
        ({ finalizers }) => ({
          finalizers: [...new Set([...finalizers, HOOK_FINALIZER])],
          annotations: { [HOOK_ANNOTATION]: definition },
        }),
        signal,
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeApiError) || ![403, 404, 422].includes(error.status)) throw error;
      return messageOf(error);
    }
  }

  /** The object, if it is this operator's; made when it is missing. */
  async #own(module: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { kube, namespace, operator, isKept } = this.#options;
    if (!(await isKept(signal))) return undefined;
    const object = await this.#get(module, signal);
    if (object !== undefined) {
      const owner = readModuleObject(object).operator;
      return owner === undefined || owner === operator ? object : undefined;
    }
    const body = newModuleObject(module, namespace, operator);
    const query = { fieldManager: FIELD_MANAGER };
    try {
      return respondedObject(
        await kube.request({ method: 'POST', path: resourcePath(MODULE_RESOURCE), query, body }, signal),
        module,
      );
    } catch (error) {
      // The one that mirrors all modules was faster.
      if (hasStatus(error, 409)) return await this.#get(module, signal);
      throw error;
    }
  }

  async #getIfAllowed(module: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await this.#get(module, signal);
    } catch (error) {
      if (hasStatus(error, 403)) return undefined;
      throw error;
    }
  }

  async #get(module: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const path = resourcePath(MODULE_RESOURCE, undefined, module);
    const response = await requestIfPresent(this.#options.kube, { method: 'GET', path }, signal);
    return response === undefined ? undefined : respondedObject(response, module);
  }

  /** A list of finalizers is replaced as a whole: nothing of others may be lost. */
  async #patchMetadata(
    module: string,
    change: (object: ReturnType<typeof readModuleObject>) => Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const object = await this.#get(module, signal);
      if (object === undefined) return;
      const read = readModuleObject(object);
      const { resourceVersion } = read;
      try {
        await this.#options.kube.request(
          {
            method: 'PATCH',
            path: resourcePath(MODULE_RESOURCE, undefined, module),
            query: { fieldManager: FIELD_MANAGER },
            contentType: 'application/merge-patch+json',
            body: { metadata: { resourceVersion, ...change(read) } },
          },
          signal,
        );
        return;
      } catch (error) {
        if (!hasStatus(error, 409) || tries === CONFLICT_TRIES) throw error;
      }
    }
  }
}
