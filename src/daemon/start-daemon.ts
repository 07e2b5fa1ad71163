import { policyFiles } from '../extensions/authorization/create-authorization.ts';
import { customizationsDir } from '../extensions/points/create-release-points.ts';
import { bindingCount } from '../hooks/hook.ts';
import { componentLog } from '../lib/component-log.ts';
import type { OperatorError } from '../lib/errors.ts';
import { withRedactedLog } from '../lib/redacted-log.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { askOperation } from '../operator/ask-operation.ts';
import { warnAboutUnknownModules } from '../operator/handlers/apply-config.ts';
import { confirmPurge } from '../operator/handlers/purge-releases.ts';
import { shutDown, startUp } from '../operator/lifecycle.ts';
import type { Operator } from '../operator/operator.ts';
import { releaseFinalizer } from '../operator/release-finalizer.ts';
import { releaseUnlock } from '../operator/release-unlock.ts';
import { watchFiles } from '../operator/watch-files.ts';
import type { LiveDeps } from '../plan/live-changes.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { startHttpServer } from '../server/http-server.ts';
import { ConfigMapEventLog } from '../settings/config-map-events-parameter.ts';
import { refuseUnsupported } from '../settings/unsupported-settings.ts';
import type { Settings } from '../settings.ts';
import { createConfigMap, loadPatiently } from '../values/operator-config-map.ts';
import { startAdmissionServer } from '../webhooks/admission-server.ts';
import { type BaseParts, startBase } from './base-parts.ts';
import { buildOperator } from './build-operator.ts';
import { startLoops } from './daemon-loops.ts';
import { createHookMetrics, createMetrics } from './daemon-metrics.ts';
import { type DebugParts, startDebug } from './debug-endpoint.ts';
import { endOnUncaught } from './end-on-uncaught.ts';
import { createHookLoader } from './hook-parts.ts';
import type { DaemonHost } from './host.ts';
import { createModuleObjects, runModuleObjects } from './module-objects.ts';
import { createView, STARTING_VIEW } from './operator-view.ts';
import { stopDaemon } from './stop-daemon.ts';
import { takeLead } from './take-lead.ts';

/** A daemon at work. */
export interface Daemon {
  readonly operator: Operator;
  /** Port of the HTTP server. */
  readonly httpPort: number;
  /** Resolves when the first converge is over. */
  readonly firstConverge: Promise<void>;
  /** Resolves when this replica must not act any more: hooks and helm have been told to end, `stop` does the rest. */
  readonly leadershipLost: Promise<void>;
  /** Takes no new task, lets running hooks and helm finish within the shutdown grace, ends everything. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the daemon: probes and metrics first, with high availability the wait for the lease, then what the operator stands on, its hooks and modules, and last the
 * queues. Resolves when the queues run.
 *
 * @param startSignal aborts a start that is not complete; a complete one is ended by `stop`
 * @throws OperatorError for everything that is wrong with settings, directories, hooks, values or the ConfigMap;
 *   LEASE_LOST when the lease was lost meanwhile
 */
export async function startDaemon(
  settings: Settings,
  host: DaemonHost,
  startSignal: AbortSignal,
): Promise<Daemon> {
  const running = new AsyncDisposableStack();
  const stop = new AbortController();
  const abort = new AbortController();
  const lost = Promise.withResolvers<void>();
  let loss: OperatorError | undefined;
  const onLost = (error: OperatorError): void => {
    loss = error;
    host.log.warn({ error }, 'Restarting because the leadership was handed over');
    abort.abort(error);
    stop.abort(error);
    lost.resolve();
  };
  try {
    const { operator, httpPort } = await start(settings, host, {
      running,
      stop: AbortSignal.any([stop.signal, startSignal]),
      abort: abort.signal,
      onLost,
      onCrash: (error) => {
        abort.abort(error);
        stop.abort(error);
      },
    });
    return {
      operator,
      httpPort,
      firstConverge: operator.converge.firstDone,
      leadershipLost: lost.promise,
      stop: () => stopDaemon(settings, host, operator, { running, stop, abort }),
    };
  } catch (error) {
    abort.abort();
    stop.abort();
    await running.disposeAsync();
    throw loss ?? error;
  }
}

interface StartSignals {
  readonly running: AsyncDisposableStack;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onLost: (error: OperatorError) => void;
  readonly onCrash: (error: OperatorError) => void;
}

async function start(settings: Settings, given: DaemonHost, signals: StartSignals) {
  const { host, redactor } = withRedactedLog(given);
  const { running, stop, abort, onLost, onCrash } = signals;
  endOnUncaught(host, running, onCrash);
  refuseUnsupported(settings);
  const built: { operator?: Operator; view: Pick<DaemonView, 'readiness' | 'convergeStatus'> } = {
    view: STARTING_VIEW,
  };
  const metrics = createMetrics(settings, host, () => built.operator);
  const hookMetrics = createHookMetrics(settings, host.log, redactor, metrics);
  const httpPort = await startProbes(
    { settings, host, metrics, hookMetrics, view: () => built.view },
    running,
  );
  await startAdmissionServer(settings, host, stop, running);
  const { cluster, lead } = await takeLead({
    settings,
    host,
    metrics,
    httpPort,
    stop,
    running,
    onStandby: (readiness) => {
      built.view = { ...STARTING_VIEW, readiness };
    },
    onLost,
  });
  built.view = STARTING_VIEW;
  const base = await startBase({
    settings,
    host,
    metrics,
    cluster,
    lead,
    redactor,
    stop,
    running,
    operator: () => built.operator,
  });
  const configMapEvents = new ConfigMapEventLog();
  const configMap = createConfigMap({
    settings,
    host,
    kube: cluster.main,
    reflectors: base.reflectors,
    logsEvents: () => configMapEvents.isOn,
  });
  await loadPatiently(configMap, host, stop);
  const loader = createHookLoader({ host, metrics, stop, ...base }, stop);
  const objects = createModuleObjects({ settings, host, base, operator: () => built.operator, redactor });
  const parts = await buildOperator({
    settings,
    host,
    base,
    metrics,
    hookMetrics,
    configMap,
    loader,
    objects,
    redactor,
    onTask: () => objects?.changed(),
    stop,
    running,
  });
  const { operator } = parts;
  warnAboutUnknownModules(operator);
  await loadHooks(operator, metrics, stop);
  built.operator = operator;
  // Before the queues: requests may come earlier than the first hook runs, but not before their hooks are loaded.
  await operator.deps.setWebhooks(operator.globalHooks.runtimes, true, stop);
  const view = viewOf(settings, host, base, operator);
  built.view = view;
  const shown = { view, redactor, pauses: parts.pauses, configMapEvents };
  await startDebug(settings, host, { ...shown, ...commandsOf(operator) }, running);
  running.defer(() => shutDown(operator));
  startUp(operator, parts.handle, { stop, abort });
  startLoops(host, { ...parts, configMap, metrics, stop, running });
  runModuleObjects(objects, settings, host, running);
  if (settings.watchesFiles) running.defer(watchFiles(watchedPaths(settings), host, operator.router, stop));
  return { operator, httpPort };
}

function watchedPaths(settings: Settings): readonly string[] {
  return [
    settings.globalHooksDir,
    customizationsDir(settings),
    ...settings.modulesDirs,
    ...policyFiles(settings),
  ];
}

/** What the debug endpoint has done on request. */
function commandsOf(operator: Operator): Pick<DebugParts, 'releaseFinalizer' | 'askOperation' | 'releases'> {
  return {
    releaseFinalizer: (module, signal) => releaseFinalizer(operator, module, signal),
    askOperation: (module, operation) => askOperation(operator, module, operation),
    releases: {
      unlock: (release, signal) => releaseUnlock(operator, release, signal),
      confirmPurge: (signal) => confirmPurge(operator, signal),
    },
  };
}

function viewOf(
  { namespace }: Settings,
  { clock }: DaemonHost,
  { helm, cluster }: BaseParts,
  operator: Operator,
): DaemonView {
  const find: LiveDeps['find'] = (...wanted) => cluster.discovery.find(...wanted);
  const live = { kube: cluster.helm, find, namespace };
  return createView({ operator, clock, helm, live, patcherAccess: cluster.patcherAccess });
}

async function loadHooks(operator: Operator, metrics: OperatorMetrics, stop: AbortSignal): Promise<void> {
  const hooks = await operator.deps.loadGlobalHooks(stop);
  operator.globalHooks.runtimes = hooks.map((hook) => operator.deps.createRuntime(hook));
  for (const hook of hooks) metrics.setBindingCount('', hook.name, bindingCount(hook));
}

interface ProbesOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly metrics: OperatorMetrics;
  readonly hookMetrics: HookMetrics;
  /** What the probes say now. */
  readonly view: () => Pick<DaemonView, 'readiness' | 'convergeStatus'>;
}

/** Starts the server of metrics and probes, and returns its port. */
async function startProbes(options: ProbesOptions, running: AsyncDisposableStack): Promise<number> {
  const { settings, host, metrics, hookMetrics, view } = options;
  const { listenAddress: address, listenPort: port } = settings;
  const log = componentLog(host, 'server');
  const http = await startHttpServer({
    address,
    port,
    view: {
      readiness: (signal) => view().readiness(signal),
      convergeStatus: () => view().convergeStatus(),
    },
    operatorMetrics: () => metrics.scrape(),
    hookMetrics: () => hookMetrics.scrape(),
    log,
  });
  running.defer(() => http.stop());
  log.info({ address, port: http.port }, 'HTTP server listens');
  return http.port;
}
