import { componentLog } from '@addon-operator/base/log';
import { createBindings, createHookExecution, createHookRuns } from '../hook-runs/create-hook-runs.ts';
import { createHookTasks } from '../hook-runs/hook-tasks.ts';
import { SettingsChecks, type SettingsChecksParts } from '../hook-runs/settings-checks.ts';
import { createConfiguration } from '../model/configuration.ts';
import { enabledWith } from '../model/lone-module.ts';
import { createModel } from '../model/model.ts';
import { createPauses } from '../model/pauses.ts';
import { createExtensionParts } from '../operator/extension-parts.ts';
import { createFileWaits } from '../operator/file-waits.ts';
import { createModuleSwitch, storedSwitch } from '../operator/requested-switch.ts';
import { onSecretsChange } from '../operator/secret-changes.ts';
import { taskHandler } from '../operator/task-pipeline.ts';
import { createQueueing } from '../queues/create-queues.ts';
import { createReconcile } from '../reconcile/create-reconcile.ts';
import { createSources } from '../reconcile/module-sources.ts';
import { readModules } from '../reconcile/read-modules.ts';
import { createAnnotatedOperations, watchAnnotations } from '../requests/requested-operations.ts';
import { explainedOf } from '../views/explained.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { BuildOptions, BuiltOperator } from './build-options.ts';
import { createJournal } from './create-journal.ts';
import { startReleases } from './start-releases.ts';

/**
 * Finds the modules and builds the operator, room by room; nothing runs yet. `start.ts` and
 * `inspect.ts` call it. A part is created after all parts that it uses, so this function is also
 * the map of dependencies: files and ConfigMap, then the model and the queues, then helm and hooks,
 * which report to the queues, then the handlers of tasks.
 *
 * @throws OperatorError for directories and values files that cannot be used
 */
// oxlint-disable-next-line max-lines-per-function -- it is the map of who uses whom, which is clear only in one piece
export async function buildOperator(options: BuildOptions): Promise<BuiltOperator> {
  const { settings, host, base, store, delivery, metrics, hookMetrics, configMap, objects, redactor } =
    options;
  const { stop, running, heldPorts, variant = {} } = options;
  const { lone, isInspection = false, onWait } = variant;
  const { cluster, reflectors } = base;
  const kube = cluster.main;
  const log = componentLog(host, 'operator');

  // Files come first: pauses and the configuration need the names of the modules.
  const loads = createFileWaits({ settings, host, stop, onWait, isInspection });
  const { files, records } = await readModules({
    settings,
    host,
    cluster,
    extensions: base.extensions,
    tmpDir: base.tmpDir,
    loads,
    store,
    delivered: delivery,
    lone,
    isInspection,
    stop,
    running,
  });
  const { pauses, handOvers } = await createPauses(
    { settings, host, kube, reflectors, stop },
    (module) => files.hasModule(module),
    lone !== undefined,
  );
  const configuration = await createConfiguration({
    settings,
    host,
    reflectors,
    redactor,
    configMap,
    files,
    lone,
    stop,
    running,
  });
  const { values } = configuration;

  // The state of everything, without any process or watch.
  const annotated = createAnnotatedOperations({ settings, host, cluster, objects, stop });
  const model = createModel({
    settings,
    modules: files.found.modules,
    isFlaggedOff: configuration.isFlaggedOff,
    operationSource: annotated,
    pauses,
    handOvers,
  });
  const { registry } = model;
  const journal = await createJournal(options);
  const telemetry = { clock: host.clock, log, metrics, journal };
  const queueing = createQueueing({ settings, host, metrics, model, tracing: base.tracing });
  const { queues, router, traces } = queueing;

  // Helm and hooks report to the registry and the router, which therefore exist already.
  const { helm, releases } = await startReleases(options, {
    registry,
    router,
    pauses,
    metrics,
    traces,
    objects,
    stop,
  });
  const runs = createHookRuns({ settings, host, base, metrics, redactor, stop, running });
  const { execution, synchronizations } = createHookExecution({
    settings,
    host,
    runs,
    hookMetrics,
    configMap,
    configuration,
    model,
    queueing,
    telemetry,
    helm,
    enabledModules: lone && (() => enabledWith(lone)),
  });
  const sources = createSources({
    settings,
    loader: runs.loader,
    scripts: runs.scripts(values),
    files,
    values,
    followSecrets: configuration.followSecrets,
    flags: configuration.flags,
    registry,
    discovery: cluster.discovery,
    lone,
    stop,
    running,
  });
  const explained = explainedOf({
    model,
    queueing,
    clock: host.clock,
    execution,
    releases,
    delivery,
  });
  const { extensions, check, http } = base;
  const steps = await createExtensionParts(
    { settings, host, cluster, helm, hosts: http.hosts, check, objects, extensions, stop },
    explained,
  );
  // An inspection runs no reconcile, so it needs no flow hooks.
  if (!isInspection) await loads.untilLoaded(() => files.loadFlow());
  const webhooks = createWebhooks({ settings, host, kube, metrics, stop, heldPorts, running }, reflectors, {
    execution,
    metrics,
    log,
    traces,
    registry,
    router,
  });
  const { bindings, schedules } = createBindings({ host, base, metrics, queueing, webhooks, stop });
  const settingsChecks = new SettingsChecks({
    registry,
    values,
    run: runs.check,
    record: eventsOf(options),
    log,
  });

  // The handlers of tasks, from here on; nothing creates a part after them that they would use.
  const hooks = { execution, bindings, settingsChecks, synchronizations };
  const moduleExtensions = { ...steps, flow: () => files.flow };
  const reconcile = createReconcile({
    model,
    queueing,
    telemetry,
    configuration,
    hooks,
    sources,
    records,
    releases,
    extensions: moduleExtensions,
  });
  const hookTasks = createHookTasks({
    model,
    queueing,
    telemetry,
    values,
    releases,
    execution,
    bindings,
    synchronizations,
  });
  const handle = taskHandler({
    model,
    queueing,
    telemetry,
    configuration,
    hooks,
    hookTasks,
    reconcile,
    sources,
    crds: records.crds,
    stored: store && storedSwitch(store, configMap, values),
    releases,
    objects,
    redactor,
  });
  // Subscribed last: from now on annotations and Secrets may queue tasks.
  if (annotated !== undefined) {
    const { operations, aborts } = model;
    watchAnnotations(annotated, { registry, router, operations, aborts, log, queues, pauses });
  }
  configuration.onSecretsChange((changed) =>
    onSecretsChange({ registry, router, log, queues, values }, changed),
  );
  return {
    model,
    queueing,
    telemetry,
    configuration,
    hooks,
    modules: {
      records,
      sources,
      extensions: moduleExtensions,
      releases,
      helm,
      store,
      switching: store && createModuleSwitch({ requests: model.switchRequests, router, store }),
    },
    reconcile,
    explained,
    followed: { pauses, handOvers, schedules },
    recorder: runs.recorder,
    loads,
    handle,
  };
}

/** Records Events; an Event that cannot be written is dropped, because nothing depends on it. */
function eventsOf({ objects, stop }: BuildOptions): SettingsChecksParts['record'] {
  return (module, event) => void objects?.record(module, event, stop).catch(() => undefined);
}
