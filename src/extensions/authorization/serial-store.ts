import { hasStatus, type KubeClient } from '../../kube/kube-client.ts';
import { type RetryHost, untilAnswered } from '../../kube/retry.ts';
import { errorFields, messageOf } from '../../lib/errors.ts';
import { changeConfigMapData } from '../../values/config-map-data.ts';
import { type ConfigMapRef, readConfigMap } from '../../values/config-map-object.ts';
import { refused } from './module-content.ts';
import type { SeenSerials, SerialStore } from './seen-serials.ts';

/** How long an old signature could come back by a restart after the record was deleted. */
const CHECK_MS = 5_000;

export interface SerialStoreOptions {
  readonly kube: KubeClient;
  readonly ref: ConfigMapRef;
  readonly host: RetryHost;
  /** Whoever only looks leaves the numbers as they are. */
  readonly isReadOnly: boolean;
  readonly stop: AbortSignal;
}

/**
 * Keeps the newest serial number of each module in a ConfigMap, and waits for an API server that is away. One that does
 * not accept them is no reason to wait: without the numbers old signatures cannot be told from new ones, so no module may run.
 */
export function serialStore({ kube, ref, host, isReadOnly, stop }: SerialStoreOptions): SerialStore {
  const asked = <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    untilAnswered(
      'serial numbers of signatures',
      () => refuseDenied(ask, ref.name),
      host,
      AbortSignal.any([stop, signal]),
    );
  return {
    read: (signal) => asked(async () => (await readConfigMap(kube, ref, signal))?.data, signal),
    change: (change, signal) =>
      isReadOnly ? Promise.resolve() : asked(() => changeConfigMapData(kube, ref, change, signal), signal),
  };
}

/** Looks for the record until the signal aborts, and has it written again when it was deleted. */
export async function keepSerials(
  serials: Pick<SeenSerials, 'restore'>,
  configMap: string,
  { clock, log }: Pick<RetryHost, 'clock' | 'log'>,
  stop: AbortSignal,
): Promise<void> {
  let reported = '';
  while (!stop.aborted) {
    try {
      await clock.sleep(CHECK_MS, stop);
      if (await serials.restore(stop))
        log.warn(
          { configMap },
          'the ConfigMap with the serial numbers of signatures was deleted; writing it again',
        );
      reported = '';
    } catch (error) {
      if (stop.aborted) return;
      const message = messageOf(error);
      if (message !== reported)
        log.warn({ configMap, ...errorFields(error) }, 'serial numbers of signatures may be lost');
      reported = message;
    }
  }
}

async function refuseDenied<T>(ask: () => Promise<T>, configMap: string): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const problem = `cannot store the serial numbers of signatures: ${messageOf(cause)}`;
    if (hasStatus(cause, 403))
      throw refused(`${problem}; allow get, create and update of ConfigMap ${configMap}`, cause);
    // Such as a name of a module that cannot be a key: the next try would end the same way.
    if (hasStatus(cause, 422)) throw refused(problem, cause);
    throw cause;
  }
}
