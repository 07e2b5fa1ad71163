/**
 * Operations that users request with an annotation on a Module object, such as `addon-operator.io/operation: reconcile`.
 * The watch of the objects reports the annotation, a reconcile claims it, and it is removed when the operation is done.
 * The removal tests uid and value, so a newer request in the meantime is not lost.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { jittered } from '@addon-operator/concurrency/jitter';
import { escapeSegment } from '@addon-operator/json/pointer';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { MODULE_RESOURCE } from './module-crd.ts';
import {
  type ModuleObject,
  type ModuleOperation,
  OPERATION_ANNOTATION,
  OPERATIONS,
} from './module-object.ts';
import type { ModuleObjectsView } from './module-object-store.ts';

export interface AnnotatedOperationsOptions {
  readonly objects: ModuleObjectsView;
  readonly kube: KubeClient;
  readonly clock: SteadyClock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
  /** The operator whose objects count, as `<namespace>/<ConfigMap>`. */
  readonly operator: string;
  /** An annotation names an unknown operation; the sentence lists the known ones. */
  readonly onUnknown: (module: string, message: string) => void;
}

const RETRY_MS = 10_000;
const POINTER = `/metadata/annotations/${escapeSegment(OPERATION_ANNOTATION)}`;

/** Operations that users request by annotating Module objects. */
export class AnnotatedOperations {
  readonly #options: AnnotatedOperationsOptions;
  readonly #stop: AbortSignal;
  /** Operations that a reconcile has taken over, by module: uid of the object and the word. */
  readonly #taken = new Map<string, string>();

  /** @param stop ends what is still to be written, and the watch */
  constructor(options: AnnotatedOperationsOptions, stop: AbortSignal) {
    this.#options = options;
    this.#stop = stop;
  }

  /** Reports from now on each operation that a user requests by an annotation. */
  watch(onRequest: (module: string, operation: ModuleOperation) => void): void {
    const end = this.#options.objects.onChange((...change) => this.#onChange(onRequest, ...change));
    this.#stop.addEventListener('abort', end, { once: true });
  }

  /** The operation in the annotation of a module, unless a reconcile has taken it over. */
  of(module: string): ModuleOperation | undefined {
    const object = this.#own(this.#options.objects.get(module));
    if (object?.operation === undefined || this.#taken.get(module) === markOf(object)) return undefined;
    return object.operation;
  }

  /** A reconcile has taken over the operation in the annotation; the annotation itself stays until {@link taken}. */
  claim(module: string): void {
    const object = this.#own(this.#options.objects.get(module));
    if (object?.operation !== undefined) this.#taken.set(module, markOf(object));
  }

  /** Takes the annotation off, provided it still says the same; tries again until that is done. Returns at once. */
  taken(module: string): void {
    const object = this.#options.objects.get(module);
    if (object?.operation === undefined) return;
    const claimed = this.#taken.get(module);
    // A newer request has taken its place, which is still to be done.
    if (claimed !== undefined && claimed !== markOf(object)) return;
    this.#taken.set(module, markOf(object));
    void this.#remove(object);
  }

  #onChange(
    onRequest: (module: string, operation: ModuleOperation) => void,
    module: string,
    before: ModuleObject | undefined,
    changed: ModuleObject | undefined,
  ): void {
    const after = this.#own(changed);
    const word = after?.annotations[OPERATION_ANNOTATION];
    if (after === undefined || word === undefined) {
      this.#taken.delete(module);
      return;
    }
    if (word === before?.annotations[OPERATION_ANNOTATION] && this.#own(before) !== undefined) return;
    if (after.operation !== undefined) {
      if (this.#taken.get(module) !== markOf(after)) onRequest(module, after.operation);
      return;
    }
    const message = `The annotation ${OPERATION_ANNOTATION} has the unknown operation "${word.slice(0, 100)}"; expected one of ${OPERATIONS.join(', ')}`;
    this.#options.log.warn({ module }, message);
    this.#options.onUnknown(module, message);
  }

  #own(object: ModuleObject | undefined): ModuleObject | undefined {
    return object?.operator === this.#options.operator ? object : undefined;
  }

  async #remove({ name, uid, operation }: ModuleObject): Promise<void> {
    const { kube, clock, random, log } = this.#options;
    const request = {
      method: 'PATCH',
      path: resourcePath(MODULE_RESOURCE, undefined, name),
      contentType: 'application/json-patch+json',
      body: [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path: POINTER, value: operation },
        { op: 'remove', path: POINTER },
      ],
    } as const;
    while (!this.#stop.aborted) {
      const retryAfterMs = jittered(RETRY_MS, random);
      try {
        await kube.request(request, this.#stop);
        return;
      } catch (error) {
        if (this.#stop.aborted) return;
        // It is gone, or says something else by now.
        if ([404, 422].some((status) => hasStatus(error, status))) return;
        log.warn(
          { module: name, ...errorFields(error), retryAfterMs },
          'cannot remove the annotation of a handled operation',
        );
      }
      await clock.sleep(retryAfterMs, this.#stop).catch(() => undefined);
    }
  }
}

function markOf({ uid, operation }: ModuleObject): string {
  return `${uid} ${operation ?? ''}`;
}
