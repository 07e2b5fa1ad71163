/**
 * Wiring: builds the operator without starting it, for commands that look at what it would do. Tested through these
 * commands in test/lifecycle/plan.test.ts and test/cluster/plan.test.ts.
 */
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { withRedactedLog } from '@addon-operator/logging/redacted-log';
import { redactedError } from '@addon-operator/masking/redactor';
import { connectAlone } from '../leader/take-lead.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import type { LoneModule } from '../model/lone-module.ts';
import { isOpened } from '../module-store/module-store.ts';
import type { Inspection } from '../plan/inspection.ts';
import { openStore } from '../reconcile/open-store.ts';
import type { Settings } from '../settings.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import { createConfigMap } from '../values/operator-config-map.ts';
import { isResolvedFor } from '../values/secrets/secret-parts.ts';
import { createMetrics } from '../views/daemon-metrics.ts';
import { buildOperator } from './build-operator.ts';
import type { BuiltOperator } from './build-options.ts';
import { connectCluster } from './connect-cluster.ts';
import type { DaemonHost } from './host.ts';
import { startBase } from './infrastructure.ts';

/**
 * Builds the operator with these settings, without running it: nothing is queued, watched or
 * served, nothing is written to the cluster, and temporary files are separate from those of a
 * running operator. `plan` and similar commands use it. Errors do not contain the content of
 * Secrets.
 *
 * @param lone the only module to inspect; default: all
 * @throws OperatorError for every problem that would prevent a start, and errors of `use`
 */
export async function inspect<T>(
  settings: Settings,
  given: DaemonHost,
  use: (inspection: Inspection) => Promise<T>,
  signal: AbortSignal,
  lone?: LoneModule,
): Promise<T> {
  const redacting = withRedactedLog(given);
  try {
    return await inspectAs(redacting, settings, use, signal, lone);
  } catch (error) {
    throw redactedError(error, redacting.redactor);
  }
}

/**
 * The inspection with a masked log. Everything that it starts is disposed when `use` is done. It has
 * a temporary directory of its own, because a running operator empties its directory at the start,
 * and takes part in no election: it writes nothing, so it may run while another process leads.
 */
async function inspectAs<T>(
  { host, redactor }: ReturnType<typeof withRedactedLog<DaemonHost>>,
  settings: Settings,
  use: (inspection: Inspection) => Promise<T>,
  signal: AbortSignal,
  lone: LoneModule | undefined,
): Promise<T> {
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  // The daemon makes the store at its first start; until then it has no module.
  const moduleStore = isOpened(settings.moduleStore) ? settings.moduleStore : '';
  const own: Settings = { ...settings, moduleStore, tmpDir: directory };
  const metrics = createMetrics(own, { version: host.version });
  const { cluster, lead } = await connectAlone({
    connect: () => connectCluster(own, host, metrics),
    running,
  });
  const base = await startBase({
    cluster,
    lead,
    settings: own,
    host,
    metrics,
    redactor,
    stop: signal,
    running,
  });
  const configMap = createConfigMap({
    settings: own,
    host,
    kube: base.cluster.main,
    reflectors: base.reflectors,
    logsEvents: () => false,
    isReadOnly: true,
  });
  await configMap.load(signal);
  const hookMetrics = new HookMetrics({
    log: host.log,
    redact: (text) => text,
    onSeriesDropped: () => undefined,
  });
  const built = await buildOperator({
    settings: own,
    host,
    base,
    store: await openStore(own, host, true),
    metrics,
    hookMetrics,
    configMap,
    objects: undefined,
    redactor,
    heldPorts: undefined,
    stop: signal,
    running,
    variant: { isInspection: true, lone },
  });
  const { namespace, crdFilterPrefixes, crdExtraLabels } = settings;
  // The values of a module include the global ones, so a reference in either counts.
  const hasSecretReferences = (module: string): boolean =>
    [module, GLOBAL_SECTION].some((owner) => isResolvedFor(settings, owner));
  return await use({
    operator: inspectedOperator(built),
    base: { helm: built.modules.helm, http: base.http, cluster: base.cluster },
    namespace,
    crdFilterPrefixes,
    crdExtraLabels,
    redactor,
    hasSecretReferences,
  });
}

/** The parts of the operator that commands read. */
function inspectedOperator({ model, configuration, modules }: BuiltOperator): Inspection['operator'] {
  const { registry, globalHooks, policy, pauses } = model;
  const { values, dynamicFlags, configMapContent } = configuration;
  const { sources, extensions, records } = modules;
  const { memory, directoryMemory } = records;
  return {
    registry,
    globalHooks,
    policy,
    pauses,
    values,
    dynamicFlags,
    configMapContent,
    sources,
    extensions,
    directoryMemory,
    memory,
  };
}
