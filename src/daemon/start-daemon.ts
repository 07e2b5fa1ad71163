import { bindingCount } from '../hooks/hook.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import { warnAboutUnknownModules } from '../operator/handlers/apply-config.ts';
import { shutDown, startUp } from '../operator/lifecycle.ts';
import type { Operator } from '../operator/operator.ts';
import type { DaemonView } from '../server/daemon-view.ts';
import { startHttpServer } from '../server/http-server.ts';
import type { Settings } from '../settings.ts';
import { ConfigMapStore } from '../values/config-map-store.ts';
import { startBase } from './base-parts.ts';
import { buildOperator } from './build-operator.ts';
import { loadPatiently, startLoops } from './daemon-loops.ts';
import { createMetrics } from './daemon-metrics.ts';
import { startDebug } from './debug-endpoint.ts';
import { createHookLoader, type HookPartsDeps } from './hook-parts.ts';
import type { DaemonHost } from './host.ts';
import { createView, STARTING_VIEW } from './operator-view.ts';
import { stopDaemon } from './stop-daemon.ts';
import { refuseUnsupported } from './unsupported-settings.ts';
import { watchFiles } from './watch-files.ts';

/** A daemon at work. */
export interface Daemon {
  readonly operator: Operator;
  /** Port of the HTTP server. */
  readonly httpPort: number;
  /** Resolves when the first converge is over. */
  readonly firstConverge: Promise<void>;
  /** Takes no new task, lets running hooks and helm finish within the shutdown grace, ends everything. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the daemon: probes and metrics first, then what the operator stands on, its hooks and modules, and last the
 * queues. Resolves when the queues run.
 *
 * @param startSignal aborts a start that is not complete; a complete one is ended by `stop`
 * @throws OperatorError for everything that is wrong with settings, directories, hooks, values or the ConfigMap
 */
export async function startDaemon(
  settings: Settings,
  host: DaemonHost,
  startSignal: AbortSignal,
): Promise<Daemon> {
  const running = new AsyncDisposableStack();
  const stop = new AbortController();
  const abort = new AbortController();
  try {
    const { operator, httpPort } = await start(settings, host, {
      running,
      stop: AbortSignal.any([stop.signal, startSignal]),
      abort: abort.signal,
    });
    return {
      operator,
      httpPort,
      firstConverge: operator.firstConvergeDone,
      stop: () => stopDaemon(settings, host, operator, { running, stop, abort }),
    };
  } catch (error) {
    abort.abort();
    stop.abort();
    await running.disposeAsync();
    throw error;
  }
}

interface StartSignals {
  readonly running: AsyncDisposableStack;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
}

async function start(settings: Settings, host: DaemonHost, signals: StartSignals) {
  const { clock, log, random } = host;
  const { running, stop } = signals;
  refuseUnsupported(settings);
  const built: { operator?: Operator; view: Pick<DaemonView, 'readiness' | 'convergeStatus'> } = {
    view: STARTING_VIEW,
  };
  const metrics = createMetrics(settings, () => built.operator);
  const hookMetrics = new HookMetrics({
    log,
    onSeriesDropped: (labels, series) => metrics.droppedHookSeries(labels, series),
  });
  const http = await startHttpServer({
    address: settings.listenAddress,
    port: settings.listenPort,
    view: {
      readiness: (signal) => built.view.readiness(signal),
      convergeStatus: () => built.view.convergeStatus(),
    },
    operatorMetrics: () => metrics.scrape(),
    hookMetrics: () => hookMetrics.scrape(),
    log,
  });
  running.defer(() => http.stop());
  log.info({ address: settings.listenAddress, port: http.port }, 'HTTP server listens');
  const base = await startBase({ settings, host, metrics, stop, running, operator: () => built.operator });
  const configMap = new ConfigMapStore({
    kube: base.cluster.main,
    reflectors: base.reflectors,
    ref: { namespace: settings.namespace, name: settings.configMapName },
    clock,
    random,
    log,
  });
  await loadPatiently(configMap, host, stop);
  const hookParts: HookPartsDeps = { host, metrics, stop, ...base };
  const loader = createHookLoader(hookParts, stop);
  const parts = await buildOperator({
    settings,
    host,
    base,
    metrics,
    hookMetrics,
    configMap,
    loader,
    stop,
    running,
  });
  const { operator } = parts;
  warnAboutUnknownModules(operator);
  const hooks = await operator.deps.loadGlobalHooks(stop);
  operator.globalHooks = hooks.map((hook) => operator.deps.createRuntime(hook));
  for (const hook of hooks) metrics.setBindingCount('', hook.name, bindingCount(hook));
  built.operator = operator;
  // Before the queues: requests may come earlier than the first hook runs, but not before their hooks are loaded.
  await operator.deps.setWebhooks(operator.globalHooks, true, stop);
  const view = createView({
    operator,
    clock,
    helm: base.helm,
    patcherAccess: base.cluster.patcherAccess,
  });
  built.view = view;
  await startDebug(settings, host, view, running);
  running.defer(() => shutDown(operator));
  startUp(operator, { stop, abort: signals.abort });
  startLoops(host, { operator, configMap, scheduleManager: parts.scheduleManager, metrics, stop, running });
  if (settings.watchesFiles)
    running.defer(watchFiles([settings.globalHooksDir, ...settings.modulesDirs], host, operator, stop));
  return { operator, httpPort: http.port };
}
