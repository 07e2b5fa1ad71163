import { OperatorError } from '@addon-operator/base/errors';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import type { SwitchOutcome, SwitchRequest } from '../delivery/module-switch.ts';

/** A requested switch, and where its outcome goes. */
export interface RequestedSwitch {
  readonly request: SwitchRequest;
  readonly resolve: (outcome: SwitchOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Requested switches of modules to versions in the store, by module. Tasks are data, so the task
 * that carries out a switch takes the request from here.
 */
export class SwitchRequests {
  readonly #requests = new Map<string, RequestedSwitch>();

  /** Resolves with the outcome of the switch. @throws the reason of `signal`; ABORTED when a newer request replaces it */
  async add(request: SwitchRequest, signal: AbortSignal): Promise<SwitchOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<SwitchOutcome>();
    const { module } = request;
    const replaced = new OperatorError('ABORTED', `another version of module ${module} was requested`);
    this.#requests.get(module)?.reject(replaced);
    const requested = { request, resolve, reject };
    this.#requests.set(module, requested);
    try {
      return await resultOrAbort(promise, signal);
    } finally {
      this.finish(requested);
    }
  }

  of(module: string): RequestedSwitch | undefined {
    return this.#requests.get(module);
  }

  /** Forgets a request that was carried out, unless there is a newer one. */
  finish(requested: RequestedSwitch): void {
    const { module } = requested.request;
    if (this.#requests.get(module) === requested) this.#requests.delete(module);
  }
}
