import { randomUUID } from 'node:crypto';
import { isoTime } from '@addon-operator/base/bounded-time';
import type { Redactor } from '@addon-operator/base/redactor';
import { peerUid } from '@addon-operator/process/peer-uid';
import type { HelmDriver } from '../helm/helm-driver.ts';
import { debugCommands } from '../operator/debug-commands.ts';
import type { Operator } from '../operator/operator.ts';
import { createView } from '../operator/operator-view.ts';
import type { Pauses } from '../operator/pauses.ts';
import { liveDiff } from '../plan/live-changes.ts';
import { startDebug } from '../server/start-debug.ts';
import type { ConfigMapEventLog } from '../settings/log-parameters.ts';
import { logLevelParameter } from '../settings/log-parameters.ts';
import { startParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** What the debug endpoint shows. */
export function viewOf(
  { namespace }: Settings,
  { clock }: DaemonHost,
  { cluster }: BaseParts,
  { operator, helm }: { readonly operator: Operator; readonly helm: HelmDriver },
): DaemonView {
  const live = {
    kube: cluster.helm,
    find: (...wanted: Parameters<typeof cluster.discovery.find>) => cluster.discovery.find(...wanted),
    namespace,
  };
  const compare = (manifests: Parameters<typeof liveDiff>[1], signal: AbortSignal) =>
    liveDiff(live, manifests, signal);
  return createView({ operator, clock, helm, namespace, compare, patcherAccess: cluster.patcherAccess });
}

export interface DebugParts {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly operator: Operator;
  readonly pauses: Pauses;
  readonly view: DaemonView;
  readonly redactor: Redactor;
  readonly configMapEvents: ConfigMapEventLog;
  readonly running: AsyncDisposableStack;
}

/** Starts the debug endpoint: it shows the view, and passes requests to the operator. */
export async function startDebugEndpoint(parts: DebugParts): Promise<void> {
  const { settings, host, operator, pauses, view, redactor, configMapEvents, running } = parts;
  const { clock, version } = host;
  const adjustable = [logLevelParameter(host.log), configMapEvents.parameter];
  const parameters = startParameters(adjustable, clock, running);
  const identity = { version, bootId: randomUUID(), clock, nowIso: () => isoTime(clock.wallMs()) };
  const endpoint = { view, redactor, parameters, identity, ...debugCommands(operator, pauses, clock) };
  await startDebug({ settings, endpoint, peerUid, log: host.log, running });
}
