import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { CONFIG_MAPS, type ConfigMapRef } from '@addon-operator/kube-client/config-map-object';
import { hasStatus } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { untilDone } from '@addon-operator/kube-client/retry';

export interface PauseWatchDeps {
  readonly reflectors: Pick<SharedReflectors, 'subscribe'>;
  /** The ConfigMap that pauses are kept in. */
  readonly ref: ConfigMapRef;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Calls `reload` whenever a client may have changed the ConfigMap of pauses, with back-off while
 * that fails. A 403 of the watch is logged once; pauses stay as they are known then.
 *
 * @param reload reads the ConfigMap again, because an event of the watch may be older than this
 *   operator's own last write
 * @returns once the watch is set up; it ends when the signal aborts
 */
export async function watchPauses(
  deps: PauseWatchDeps,
  reload: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { reflectors, ref, log } = deps;
  const retried = (attempt: () => Promise<void>): Promise<void> => {
    const onFailure = (error: unknown): void =>
      log.warn({ error, configMap: ref.name }, 'cannot read the ConfigMap of pauses, will retry');
    return untilDone(attempt, onFailure, deps, signal);
  };
  const seen = (): Promise<void> => retried(() => reload(signal));
  const selection = {
    resource: CONFIG_MAPS,
    namespace: ref.namespace,
    fieldSelector: `metadata.name=${ref.name}`,
  };
  const sink = { stage: async () => {}, discard: () => {}, commit: () => {}, apply: seen };
  const subscribe = async (): Promise<void> => {
    try {
      await reflectors.subscribe(selection, sink, signal);
    } catch (error) {
      if (!hasStatus(error, 403)) throw error;
      log.warn(
        { configMap: ref.name, ...errorFields(error) },
        'cannot watch the ConfigMap of pauses: edits take effect after a restart; grant list and watch on it',
      );
    }
  };
  await retried(subscribe);
  // Between the first read and the beginning of the watch it may have changed.
  await seen();
}
