/**
 * Wiring: gives the debug endpoint the view of the operator and the requests that people may make. What it shows is tested
 * in views and status, what it responds in server, the whole in test/lifecycle/operations.test.ts.
 */
import type { LogTail } from '@addon-operator/logging/log-tail';
import type { Redactor } from '@addon-operator/masking/redactor';
import { peerUid } from '@addon-operator/process/peer-uid';
import type { Delivery } from '../delivery/delivery.ts';
import { liveDiff } from '../plan/live-changes.ts';
import { changeText, manifestChanges } from '../plan/manifest-changes.ts';
import { readReleaseObjects } from '../plan/read-release-objects.ts';
import { debugCommands } from '../requests/debug-commands.ts';
import { recordAction } from '../server/api/action-response.ts';
import { type Api, createApi } from '../server/api/api.ts';
import { operatorIdentity } from '../server/api/operator-identity.ts';
import { startDebug } from '../server/start-debug.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { ConfigMapEventLog } from '../settings/log-parameters.ts';
import { logLevelParameter } from '../settings/log-parameters.ts';
import { runningSettings } from '../settings/running-settings.ts';
import { startParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { saveSection } from '../values/config-map-save.ts';
import { createView, type ViewDeps } from '../views/operator-view.ts';
import { deliveryRollback } from './begin-delivery.ts';
import type { BuiltOperator } from './build-options.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** Creates the view that probes, pages and the debug endpoint serve. */
export function viewOf(
  { namespace }: Pick<InstanceSettings, 'namespace'>,
  { cluster }: Pick<BaseParts, 'cluster'>,
  { explained, telemetry, configuration, modules }: BuiltOperator,
  { redactor, delivery }: { readonly redactor: Redactor; readonly delivery: ViewDeps['delivery'] },
): DaemonView {
  // Comparisons with live objects use the client without a rate limit, like helm.
  const live = {
    kube: cluster.helm,
    find: (...wanted: Parameters<typeof cluster.discovery.find>) => cluster.discovery.find(...wanted),
    namespace,
  };
  const compare = (manifests: Parameters<typeof liveDiff>[1], signal: AbortSignal) =>
    liveDiff(live, manifests, signal);
  const readObjects: ViewDeps['readObjects'] = (manifest, signal) =>
    readReleaseObjects({ ...live, clock: telemetry.clock }, manifest, signal);
  const compareRevisions: ViewDeps['compareRevisions'] = (from, to) =>
    changeText(manifestChanges(from.manifest, to.manifest, namespace, { redactor }), {
      before: `revision ${from.revision}`,
      after: `revision ${to.revision}`,
    });
  const patchAccess = (): ReturnType<ViewDeps['patchAccess']> => cluster.patchAccess.all;
  return createView({
    operator: explained,
    health: cluster.health,
    journal: telemetry.journal,
    values: configuration.values,
    memory: modules.records.memory,
    extensions: modules.extensions,
    helm: modules.helm,
    namespace,
    compare,
    readObjects,
    compareRevisions,
    patchAccess,
    delivery,
  });
}

// The debug endpoint may change the running operator, so it gets more parts than the view.
export interface DebugParts {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: Pick<BaseParts, 'cluster'>;
  readonly built: BuiltOperator;
  readonly view: DaemonView;
  /** Modules from sources; undefined without a module store. */
  readonly delivery: Delivery | undefined;
  readonly redactor: Redactor;
  /** Different after each start of the operator. */
  readonly bootId: string;
  readonly logs: { readonly configMapEvents: ConfigMapEventLog; readonly tail: LogTail };
  /** Records Events about modules; undefined where there are none. */
  readonly objects: Pick<ModuleObjects, 'record'> | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/**
 * Starts the debug endpoint, which serves the view and passes requests to the operator. Returns its
 * API, which the page uses too.
 */
export async function startDebugEndpoint(parts: DebugParts): Promise<Api> {
  const { settings, host, base, built, view, delivery, redactor, logs, running, bootId, objects, stop } =
    parts;
  const { model, queueing, telemetry, hooks, modules, reconcile, recorder, followed } = built;
  const { releases, extensions, records } = modules;
  const { clock } = host;
  const adjustable = [logLevelParameter(host.log), logs.configMapEvents.parameter];
  const ref = { namespace: settings.namespace, name: settings.configMapName };
  const commands = debugCommands({
    model,
    queueing,
    telemetry,
    execution: hooks.execution,
    releases,
    extensions,
    records,
    reconcile,
    recorder,
    flags: { kube: base.cluster.main, ref },
    pauses: followed.pauses,
    configuration: built.configuration,
    rollback: {
      writeSection: async (key, section, signal) => {
        await saveSection(base.cluster.main, ref, key, () => section, { isCreated: true }, signal);
      },
      // An Event is a courtesy: the log has the same.
      record: (module, event) => void objects?.record(module, event, stop).catch(() => undefined),
      deliveryRollback: delivery && deliveryRollback(delivery),
      stop,
    },
  });
  const endpoint = {
    ...commands,
    view,
    redactor,
    parameters: startParameters(adjustable, clock, running),
    identity: operatorIdentity(settings, host, telemetry.metrics, bootId),
    settings: runningSettings(settings, host.cwd),
    log: logs.tail,
  };
  const api = createApi({
    ...endpoint,
    // Every action of a user leaves a log record, and an Event at its module.
    onAction: (action, outcome) => recordAction({ objects, log: host.log, stop }, action, outcome),
  });
  await startDebug({ settings, endpoint, api, peerUid, log: host.log, running });
  return api;
}
