import { randomUUID } from 'node:crypto';
import type { OperatorError } from '@addon-operator/base/errors';
import { LogTail } from '@addon-operator/logging/log-tail';
import { observeLog } from '@addon-operator/logging/observe-log';
import { withRedactedLog } from '@addon-operator/logging/redacted-log';
import type { Redactor } from '@addon-operator/masking/redactor';
import { endOnUncaught } from '@addon-operator/process/end-on-uncaught';
import { peerUid } from '@addon-operator/process/peer-uid';
import { startTracing } from '@addon-operator/tracing';
import { loadHooks, warnOfNothingToDo } from '../hook-runs/load-global-hooks.ts';
import { type HookTools, startHookTools } from '../hook-runs/start-hook-tools.ts';
import { ALONE, type LeadOnCluster } from '../leader/take-lead.ts';
import { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorGauges } from '../metrics/operator-metrics.ts';
import type { LoneModule } from '../model/lone-module.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import { warnAboutUnknownModules } from '../operator/apply-config.ts';
import { shutDown, startUp } from '../operator/lifecycle.ts';
import { watchedPaths, watchFiles } from '../operator/watch-files.ts';
import { openStore } from '../reconcile/open-store.ts';
import { startStatusSocket } from '../server/start-debug.ts';
import { type Probes, startProbes } from '../server/start-probes.ts';
import { ConfigMapEventLog } from '../settings/log-parameters.ts';
import { refuseUnsupported } from '../settings/unsupported-settings.ts';
import type { Settings } from '../settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { type OperatorStatus, unloadedStatus } from '../status/operator-status.ts';
import { runModuleObjects } from '../status/run-module-objects.ts';
import { Page } from '../ui/page.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { createConfigMap, loadPatiently } from '../values/operator-config-map.ts';
import { createModuleObjects, moduleSource } from '../views/create-module-objects.ts';
import { createMetrics, operatorGauges } from '../views/daemon-metrics.ts';
import type { Explained } from '../views/explained.ts';
import { STARTING_VIEW } from '../views/operator-view.ts';
import { startAdmissionServer } from '../webhooks/admission-server.ts';
import { beginDelivery } from './begin-delivery.ts';
import { buildOperator } from './build-operator.ts';
import type { BuiltOperator, OperatorVariant } from './build-options.ts';
import { type Cluster, connectCluster } from './connect-cluster.ts';
import { type DebugParts, startDebugEndpoint, viewOf } from './endpoints.ts';
import type { DaemonHost } from './host.ts';
import { type BaseOptions, type BaseParts, startBase, type Tracing } from './infrastructure.ts';
import { type LeadOptions, leadAsReplica } from './lead-as-replica.ts';
import { startFreeingMemory, startLoops } from './loops.ts';
import { operatorForDelivery } from './operator-for-delivery.ts';
import { type NotifyAbout, prepareNotifying } from './prepare-notifying.ts';
import type { StartedDelivery } from './start-delivery.ts';
import { stopDaemon } from './stop.ts';

/** A running operator. */
export interface Daemon {
  /** The parts that are read to show it. */
  readonly operator: Explained;
  readonly built: BuiltOperator;
  readonly view: DaemonView;
  /** Port of the HTTP server. */
  readonly httpPort: number;
  /** Resolves when the first converge is over. */
  readonly firstConverge: Promise<void>;
  /**
   * Resolves when this replica must not act any more: hooks and helm are terminated, `stop` does
   * the rest.
   */
  readonly leadershipLost: Promise<void>;
  /**
   * Takes no new task, lets running hooks and helm finish within the grace period, then ends
   * everything.
   */
  readonly stop: () => Promise<void>;
}

/** A daemon that runs one module in place of the operator in the cluster. */
export interface LoneRun {
  readonly module: LoneModule;
  /** Takes the module over, in place of a leader election. */
  readonly takeLead: (options: LeadOptions) => Promise<LeadOnCluster<Cluster>>;
}

/**
 * Starts the daemon in order: probes and metrics; with high availability the wait for the Lease;
 * the parts below the operator; hooks and modules; at last the queues. Resolves when the queues
 * run. Everything that is started is entered in a stack, so a failed start ends what it has begun.
 * The main program and `addon-operator dev` call it.
 *
 * @param startSignal aborts an incomplete start; a complete one is ended by `stop`
 * @param lone default: all modules run
 * @throws OperatorError for problems of settings, directories, hooks, values or the ConfigMap;
 *   LEASE_LOST when the lease was lost during the start
 */
export async function startDaemon(
  settings: Settings,
  host: DaemonHost,
  startSignal: AbortSignal,
  lone?: LoneRun,
): Promise<Daemon> {
  const running = new AsyncDisposableStack();
  const stop = new AbortController();
  const abort = new AbortController();
  const lost = Promise.withResolvers<void>();
  let loss: OperatorError | undefined;
  // Running processes are aborted first: another replica may act as soon as the lease has expired.
  const onLost = (error: OperatorError): void => {
    loss = error;
    host.log.warn({ error }, lone === undefined ? HANDED_OVER : TAKEN_AWAY);
    abort.abort(error);
    stop.abort(error);
    lost.resolve();
  };
  try {
    const { built, view, httpPort } = await start(settings, host, {
      lone,
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
      operator: built.explained,
      built,
      view,
      httpPort,
      firstConverge: built.model.converge.firstDone,
      leadershipLost: lost.promise,
      stop: () => stopDaemon(settings, host, built.queueing.queues, { running, stop, abort }),
    };
  } catch (error) {
    abort.abort();
    stop.abort();
    await running.disposeAsync();
    // The loss of the lease is the cause of all errors that follow from it.
    throw loss ?? error;
  }
}

const HANDED_OVER = 'Restarting because the leadership was handed over';
const TAKEN_AWAY = 'The module is not handed over any more: everything of it ends here';

interface StartSignals {
  readonly lone: LoneRun | undefined;
  readonly running: AsyncDisposableStack;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onLost: (error: OperatorError) => void;
  readonly onCrash: (error: OperatorError) => void;
}

/**
 * The start itself, in the order of `startDaemon`. `signals` holds the stack that is disposed when
 * it fails.
 */
async function start(settings: Settings, given: DaemonHost, signals: StartSignals) {
  const logTail = new LogTail(given.clock, () => given.log.level);
  const log = observeLog(given.log, (record) => logTail.add(record));
  // From here on every record is masked, also those of a failing start.
  const { host, redactor } = withRedactedLog({ ...given, log });
  const { lone, running, stop, abort, onLost, onCrash } = signals;
  endOnUncaught(host, running, onCrash);
  refuseUnsupported(settings);
  startFreeingMemory(host, { stop, running });
  const metrics = createMetrics(settings, host);
  const hookMetrics = new HookMetrics({
    log: host.log,
    groups: settings.metricGroups,
    redact: (text) => redactor.text(text),
    onSeriesDropped: (labels, series) => metrics.droppedHookSeries(labels, series),
  });
  const common = { settings, host, metrics, hookMetrics, redactor, stop, running };
  // A mistake in its file ends the start, also that of a standby.
  const notify = lone === undefined ? await prepareNotifying(common) : undefined;
  const tracing = await createTracing(common);
  // Probes first: Kubernetes must see a process that waits as alive.
  const probes = await startProbes(common, STARTING_VIEW);
  // A replica may wait for the lead for days, so with high availability hooks' processes start
  // later.
  const tools = settings.isHaEnabled || lone !== undefined ? undefined : beginTools(common);
  await startAdmissionServer(settings, host, stop, running);
  const page = new Page(common);
  const connect: LeadOptions['connect'] = (beforeWrite) =>
    connectCluster(settings, host, metrics, beforeWrite);
  const waiting = { ...common, connect, onLost };
  const { cluster, lead } = await (lone?.takeLead(waiting) ?? leadAsReplica(waiting, { probes, page }));
  probes.show(STARTING_VIEW);
  const base = await startBase({ ...common, tools, tracing, cluster, lead });
  const configMapEvents = new ConfigMapEventLog();
  const configMap = createConfigMap({
    settings,
    host,
    kube: cluster.main,
    reflectors: base.reflectors,
    logsEvents: () => configMapEvents.isOn,
    // In development the operator in the cluster keeps the record of the ConfigMap's existence.
    isReadOnly: lone !== undefined,
  });
  await loadPatiently(configMap, host, stop);
  const objects = createModuleObjects({
    settings,
    host,
    kube: cluster.status,
    reflectors: base.reflectors,
    redactor,
  });
  const store = await openStore(settings, host, lone !== undefined);
  const delivering = operatorForDelivery(host, cluster, settings.namespace);
  const delivery =
    lone === undefined
      ? await beginDelivery({ ...common, base, store, objects, delivering }, stop)
      : undefined;
  const built = await buildOperator({
    ...common,
    base,
    store,
    delivery: delivery?.delivery,
    configMap,
    objects,
    heldPorts: lead.heldPorts,
    variant: {
      lone: lone?.module,
      onWait: showsWait(common, probes),
    },
  });
  delivering.show(built);
  const view = await startOperator(built, {
    ...common,
    delivery,
    notify,
    base,
    configMap,
    objects,
    probes,
    page,
    bootId: tracing.bootId,
    logs: { configMapEvents, tail: logTail },
    abort,
  });
  return { built, view, httpPort: probes.port };
}

interface OperatorStart {
  readonly settings: Settings;
  readonly delivery: StartedDelivery | undefined;
  readonly notify: NotifyAbout | undefined;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  readonly configMap: ConfigMapStore;
  readonly objects: ModuleObjects | undefined;
  readonly redactor: Redactor;
  readonly probes: Probes;
  readonly page: Page;
  readonly bootId: string;
  readonly logs: DebugParts['logs'];
  readonly running: AsyncDisposableStack;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
}

/**
 * Loads the global hooks, serves webhooks and the debug endpoint, then starts the queues. Returns
 * the view.
 */
async function startOperator(
  built: BuiltOperator,
  {
    settings,
    delivery,
    notify,
    host,
    base,
    configMap,
    objects,
    redactor,
    probes,
    page,
    bootId,
    logs,
    running,
    stop,
    abort,
  }: OperatorStart,
): Promise<DaemonView> {
  const { model, queueing, telemetry, hooks, modules, loads } = built;
  const { registry, globalHooks, converge } = model;
  const { queues, router } = queueing;
  const { log, metrics } = telemetry;
  const { bindings, execution } = hooks;
  const lifecycle = { registry, globalHooks, router, queues, converge };
  warnAboutUnknownModules({
    registry,
    configMapContent: built.configuration.configMapContent,
    log,
  });
  await loads.untilLoaded(() =>
    loadHooks({ globalHooks, sources: modules.sources, bindings, metrics }, stop),
  );
  warnOfNothingToDo({ registry, globalHooks }, settings, host.log);
  metrics.show(gaugesOf(built));
  // Disposed after the webhook servers, which respond until the end.
  running.defer(() => shutDown(lifecycle));
  // Before the queues: requests may arrive before the first hook runs, but not before the hooks are
  // loaded.
  await bindings.setWebhooks(globalHooks.runtimes, true, stop);
  const view = viewOf(settings, base, built, { redactor, delivery: delivery?.delivery });
  probes.show(view);
  const api = await startDebugEndpoint({
    settings,
    host,
    base,
    built,
    view,
    delivery: delivery?.delivery,
    redactor,
    bootId,
    logs,
    objects,
    stop,
    running,
  });
  await page.show({ api, kube: base.cluster.reviews });
  startUp(lifecycle, built.handle, { stop, abort });
  // Loops that queue tasks start after the queues, so that the tasks of the start come first.
  const notifying = notify && ((signal: AbortSignal) => notify(view, signal));
  startLoops(host, { settings, built, configMap, objects, delivery, notifying, stop, running });
  const { extensions } = modules;
  const source = moduleSource(built.explained, { registry, converge, router, queues, extensions }, redactor);
  runModuleObjects(objects, source, settings, host, running);
  if (settings.watchesFiles) {
    const watching = { router, execution, queues, converge, log, journal: telemetry.journal };
    running.defer(watchFiles(watchedPaths(settings), host, watching, stop));
  }
  // Files may have changed after they were loaded: read everything again.
  if (loads.hasWaited) router.main.prepend({ type: 'ReloadFiles', saved: [], trigger: FILES_CHANGED });
  return view;
}

/** The gauges that the metrics endpoint reads at each scrape. */
function gaugesOf({ explained, queueing, configuration }: BuiltOperator): OperatorGauges {
  const { backlog } = queueing;
  const { configMapContent } = configuration;
  return operatorGauges({ ...explained, backlog, configMapContent });
}

/**
 * Starts the processes that run hooks while the cluster is being connected, since both take about
 * the same time. A replica that may wait for the lead starts them only when it leads.
 */
function beginTools(common: Pick<BaseOptions, 'settings' | 'host' | 'stop' | 'running'>): Promise<HookTools> {
  const tools = startHookTools({ ...common, lead: ALONE });
  // The rejection is reported where the tools are needed, unless the start fails earlier.
  tools.catch(() => undefined);
  return tools;
}

/**
 * Shows the error while the start waits for a file. The debug endpoint does not exist yet, so a
 * socket serves the status alone.
 */
function showsWait(
  { settings, host, redactor }: Pick<LeadOptions, 'settings' | 'host'> & { readonly redactor: Redactor },
  probes: Probes,
): OperatorVariant['onWait'] {
  return async (error) => {
    const status = (): OperatorStatus => unloadedStatus(error);
    probes.show({ ...STARTING_VIEW, status });
    const socket = await startStatusSocket({ settings, status, redactor, peerUid, log: host.log });
    return () => socket.stop();
  };
}

/** Creates the export of traces, if the environment names a collector. */
async function createTracing({
  host,
  metrics,
  redactor,
  running,
}: Pick<BaseOptions, 'host' | 'metrics' | 'redactor' | 'running'>): Promise<Tracing> {
  const bootId = randomUUID();
  const tracer = await startTracing({
    ...host,
    serviceName: 'addon-operator',
    bootId,
    redact: (text) => redactor.text(text),
    onDropped: (count) => metrics.droppedSpans(count),
    running,
  });
  return { bootId, tracer };
}
