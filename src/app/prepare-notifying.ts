/** Wiring: notifications, if there is a file with their receivers; nothing of them is loaded otherwise. */

import type { Redactor } from '@addon-operator/masking/redactor';
import { allowedHosts } from '../hooks/http/allowed-hosts.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { clusterNameOf } from '../server/api/api-route.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { DaemonHost } from './host.ts';

/** Sends notices about the modules of this view until the signal aborts. */
export type NotifyAbout = (view: DaemonView, stop: AbortSignal) => Promise<void>;

/**
 * Reads the file of `--notify-config`. Undefined without one.
 *
 * @throws OperatorError CONFIG_INVALID naming the file and each mistake
 */
export async function prepareNotifying({
  settings,
  host,
  redactor,
  metrics,
}: {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly redactor: Redactor;
  readonly metrics: OperatorMetrics;
}): Promise<NotifyAbout | undefined> {
  const { notifyConfig: file, httpHookAllowedHosts, namespace, clusterName } = settings;
  if (file === '') return undefined;
  const { createNotifying } = await import('../notify/start-notifying.ts');
  const hosts = allowedHosts(httpHookAllowedHosts, host.env);
  const notify = await createNotifying({ file, host, hosts, redactor, metrics });
  return async (view, stop) => {
    const origin = () => ({
      cluster: clusterNameOf({ identity: { cluster: clusterName }, view }),
      namespace,
    });
    await notify({ view, origin }, stop);
  };
}
