import type { LogTail } from '@addon-operator/logging/log-tail';
import type { Redactor } from '@addon-operator/masking/redactor';
import { peerUid } from '@addon-operator/process/peer-uid';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Operator } from '../operator/operator.ts';
import { liveDiff } from '../plan/live-changes.ts';
import { changeText, manifestChanges } from '../plan/manifest-changes.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import { debugCommands } from '../requests/debug-commands.ts';
import { type Api, createApi } from '../server/api/api.ts';
import { recordAction } from '../server/api/module-action.ts';
import { identityOf } from '../server/api/operator-identity.ts';
import { startDebug } from '../server/start-debug.ts';
import type { ConfigMapEventLog } from '../settings/log-parameters.ts';
import { logLevelParameter } from '../settings/log-parameters.ts';
import { runningSettings } from '../settings/running-settings.ts';
import { startParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { createView, type ViewDeps } from '../views/operator-view.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

interface ViewedParts {
  readonly operator: Operator;
  readonly helm: HelmDriver;
  readonly redactor: Redactor;
}

/** What the debug endpoint shows. */
export function viewOf(
  { namespace }: Settings,
  { clock }: DaemonHost,
  { cluster }: BaseParts,
  { operator, helm, redactor }: ViewedParts,
): DaemonView {
  const live = {
    kube: cluster.helm,
    find: (...wanted: Parameters<typeof cluster.discovery.find>) => cluster.discovery.find(...wanted),
    namespace,
  };
  const compare = (manifests: Parameters<typeof liveDiff>[1], signal: AbortSignal) =>
    liveDiff(live, manifests, signal);
  const compareRevisions: ViewDeps['compareRevisions'] = (from, to) =>
    changeText(manifestChanges(from.manifest, to.manifest, namespace, { redactor }), {
      before: `revision ${from.revision}`,
      after: `revision ${to.revision}`,
    });
  const patchAccess = (): ReturnType<ViewDeps['patchAccess']> => cluster.patchAccess.all;
  return createView({ operator, clock, helm, namespace, compare, compareRevisions, patchAccess });
}

export interface DebugParts {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly metrics: Pick<OperatorMetrics, 'eventLoopDelay'>;
  readonly operator: Operator;
  readonly pauses: Pauses;
  readonly view: DaemonView;
  readonly redactor: Redactor;
  /** Different after each start of the operator. */
  readonly bootId: string;
  readonly logs: { readonly configMapEvents: ConfigMapEventLog; readonly tail: LogTail };
  /** Where Events about modules are recorded, if there are any. */
  readonly objects: Pick<ModuleObjects, 'record'> | undefined;
  readonly stop: AbortSignal;
  readonly running: AsyncDisposableStack;
}

/** Starts the debug endpoint, which shows the view and passes requests to the operator, and returns its API. */
export async function startDebugEndpoint(parts: DebugParts): Promise<Api> {
  const { settings, host, metrics, operator, pauses, view, redactor, logs, running, bootId } = parts;
  const { clock } = host;
  const adjustable = [logLevelParameter(host.log), logs.configMapEvents.parameter];
  const parameters = startParameters(adjustable, clock, running);
  const identity = identityOf(settings, host, metrics, bootId);
  const endpoint = {
    view,
    redactor,
    parameters,
    identity,
    settings: runningSettings(settings, host.cwd),
    log: logs.tail,
    ...debugCommands(operator, pauses, clock),
  };
  const api = createApi({
    ...endpoint,
    onAction: (action) => recordAction({ ...parts, log: host.log }, action),
  });
  await startDebug({ settings, endpoint, api, peerUid, log: host.log, running });
  return api;
}
