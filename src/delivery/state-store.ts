/** Keeps the state of installed modules in a ConfigMap, one entry for each module, so that a new leader goes on from it. */

import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';
import {
  CONFIG_MAPS,
  type ConfigMapRef,
  readConfigMapData,
  writeConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { type InstallState, parseState } from './install-state.ts';

/** The state of all installed modules. */
export interface StateStore {
  /** @throws OperatorError KUBE_API, KUBE_UNREACHABLE */
  load(signal: AbortSignal): Promise<ReadonlyMap<string, InstallState>>;
  /** Writes the state of one module; undefined removes it. @throws OperatorError KUBE_API, KUBE_UNREACHABLE */
  save(module: string, state: InstallState | undefined, signal: AbortSignal): Promise<void>;
}

/** The state in a ConfigMap. Only the leader writes it. */
export function createStateStore(kube: KubeClient, ref: ConfigMapRef): StateStore {
  const path = resourcePath(CONFIG_MAPS, ref.namespace, ref.name);
  const locks = new KeyedLock();
  return {
    async load(signal) {
      const data = await readConfigMapData(kube, ref, signal);
      const states = Object.entries(data).flatMap(([module, content]) => {
        const state = parseState(content);
        return state === undefined ? [] : [[module, state] as const];
      });
      return new Map(states);
    },
    async save(module, state, signal) {
      const content = state === undefined ? null : JSON.stringify(state);
      // In the order of the calls: the last one is the state.
      await locks.run(module, signal, () => write(module, content, signal));
    },
  };

  async function write(module: string, content: string | null, signal: AbortSignal): Promise<void> {
    const contentType = 'application/merge-patch+json';
    try {
      const body = { data: { [module]: content } };
      await kube.request({ method: 'PATCH', path, contentType, body }, signal);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      if (content !== null) await writeConfigMapData(kube, ref, undefined, { [module]: content }, signal);
    }
  }
}
