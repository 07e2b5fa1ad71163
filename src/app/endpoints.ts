import { randomUUID } from 'node:crypto';
import { isoTime } from '@addon-operator/base/bounded-time';
import { componentLog } from '@addon-operator/base/log';
import type { Redactor } from '@addon-operator/base/redactor';
import { peerUid } from '@addon-operator/process/peer-uid';
import type { HelmDriver } from '../helm/helm-driver.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { debugCommands } from '../operator/debug-commands.ts';
import type { Operator } from '../operator/operator.ts';
import { createView, STARTING_VIEW } from '../operator/operator-view.ts';
import type { Pauses } from '../operator/pauses.ts';
import { liveDiff } from '../plan/live-changes.ts';
import { startHttpServer } from '../server/http-server.ts';
import { startDebug } from '../server/start-debug.ts';
import type { ConfigMapEventLog } from '../settings/log-parameters.ts';
import { logLevelParameter } from '../settings/log-parameters.ts';
import { startParameters } from '../settings/runtime-parameters.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { OperatorStatus } from '../status/operator-status.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** The metrics that hooks write; series that are dropped are counted among those of the daemon. */
export function createHookMetrics(
  { metricGroups: groups }: Settings,
  { log }: DaemonHost,
  redactor: Redactor,
  metrics: Pick<OperatorMetrics, 'droppedHookSeries'>,
): HookMetrics {
  return new HookMetrics({
    log,
    groups,
    redact: (text) => redactor.text(text),
    onSeriesDropped: (labels, series) => metrics.droppedHookSeries(labels, series),
  });
}

interface ProbesOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly metrics: OperatorMetrics;
  readonly hookMetrics: HookMetrics;
  /** Masks secrets in what is said about failures. */
  readonly redactor: Redactor;
  readonly running: AsyncDisposableStack;
}

/** The server of metrics and probes. */
export interface Probes {
  readonly port: number;
  /** From now on the probes say what is in `view`. */
  show(view: ProbedView): void;
}

type ProbedView = Pick<DaemonView, 'readiness' | 'convergeStatus' | 'status'>;

/** Starts the server of metrics and probes; until {@link Probes.show} they say that the daemon starts. */
export async function startProbes(options: ProbesOptions): Promise<Probes> {
  const { settings, host, metrics, hookMetrics, redactor, running } = options;
  let view: ProbedView = STARTING_VIEW;
  const { listenAddress: address, listenPort: port } = settings;
  const log = componentLog(host, 'server');
  const http = await startHttpServer({
    address,
    port,
    view: {
      readiness: (signal) => view.readiness(signal),
      convergeStatus: () => view.convergeStatus(),
      status: () => redactedStatus(view.status(), redactor),
    },
    operatorMetrics: () => metrics.scrape(),
    hookMetrics: () => hookMetrics.scrape(),
    log,
  });
  running.defer(() => http.stop());
  log.info({ address, port: http.port }, 'HTTP server listens');
  return {
    port: http.port,
    show: (next) => {
      view = next;
    },
  };
}

function redactedStatus(status: OperatorStatus, redactor: Redactor): OperatorStatus {
  const problems = status.problems.map((problem) => redactor.text(problem));
  return { ...status, text: redactor.text(status.text), problems };
}

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
  const parameters = startParameters(
    [logLevelParameter(host.log), configMapEvents.parameter],
    host.clock,
    running,
  );
  const identity = {
    version: host.version,
    bootId: randomUUID(),
    nowIso: () => isoTime(host.clock.wallMs()),
  };
  const endpoint = { view, redactor, parameters, identity, ...debugCommands(operator, pauses, host.clock) };
  await startDebug({ settings, endpoint, peerUid, log: host.log, running });
}
