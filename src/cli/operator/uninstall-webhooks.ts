import { connectCluster } from '../../app/connect-cluster.ts';
import { readSettings } from '../../settings/read-settings.ts';
import { createMetrics } from '../../views/daemon-metrics.ts';
import { removeAdmission, removeConversions } from '../../webhooks/remove-webhooks.ts';
import { stopDeployment } from '../../webhooks/stop-deployment.ts';
import type { CliHost } from '../cli-host.ts';
import { quietHost } from '../quiet-host.ts';

/** Longer than the chart's default grace period of the pods, 60 s. */
const STOP_LIMIT_MS = 120_000;

/**
 * Removes the webhooks of an operator with these settings and prints what was removed. Before the operator is stopped its
 * admission webhooks are removed, so that no request meets one that does not respond.
 *
 * @param flags values given on the command line, by flag name
 * @param deployment of the operator, in its namespace; undefined when it is not running
 * @throws OperatorError CONFIG_INVALID, KUBE_API, KUBE_UNREACHABLE, UNINSTALL_INCOMPLETE
 */
export async function uninstallWebhooks(
  flags: Readonly<Record<string, string>>,
  deployment: string | undefined,
  host: CliHost,
): Promise<number> {
  const settings = readSettings({ env: host.env, flags });
  const signal = host.stopSignal();
  const daemon = quietHost(host);
  const cluster = await connectCluster(
    settings,
    daemon,
    createMetrics(settings, { version: daemon.version }),
  );
  const print = (line: string): unknown => host.stdout.write(`${line}\n`);
  try {
    const { main } = cluster;
    const configurations = new Set(await removeAdmission(main, settings, signal));
    if (deployment !== undefined) {
      const ref = { namespace: settings.namespace, name: deployment };
      const isStopped = await stopDeployment(main, ref, host.clock, STOP_LIMIT_MS, signal);
      print(`Deployment ${ref.namespace}/${ref.name}: ${isStopped ? 'scaled to 0' : 'not found'}`);
      // Those that it registered while it was stopping.
      for (const each of await removeAdmission(main, settings, signal)) configurations.add(each);
    }
    const definitions = await removeConversions(main, settings, signal);
    for (const each of configurations) print(`${each}: removed`);
    for (const each of definitions) print(`CustomResourceDefinition/${each}: conversion set to None`);
    if (configurations.size + definitions.length === 0) print('No webhooks of this operator are registered');
    return 0;
  } finally {
    cluster.close();
  }
}
