import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { parseCrontab } from '@addon-operator/crontab';
import type { JqEngine } from '@addon-operator/jq/engines/jq-engine';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { createMonitor } from '../events/kubernetes/monitor.ts';
import { HookConfigParser } from '../hook-config/parse-hook-config.ts';
import { type EventBacklog, reduceEvent } from '../hooks/event-backlog.ts';
import { bindingLabels, type Hook } from '../hooks/hook.ts';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import type { InProcessHooks } from '../hooks/in-process/in-process-hooks.ts';
import { HookLoader } from '../hooks/load-hooks.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { HookRuntime } from '../model/hook-runtime.ts';
import type { TaskRouter } from '../queues/task-router.ts';

/** The time limit for a hook to return its configuration, in milliseconds. */
const CONFIG_TIMEOUT_MS = 30_000;

/** The parts that load hooks. */
export interface HookLoaderDeps {
  readonly host: { readonly log: Logger; readonly cwd: string };
  readonly runner: ProcessRunner;
  readonly inProcess: InProcessHooks;
  readonly http: HttpHooks;
  readonly hookEnv: Readonly<Record<string, string>>;
  readonly jq: JqEngine;
}

/** The parts that watch for hooks. */
export interface HookRuntimeDeps {
  readonly host: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly jq: JqEngine;
  readonly cluster: { readonly discovery: Discovery };
  readonly reflectors: SharedReflectors;
  readonly metrics: OperatorMetrics;
  readonly backlog: EventBacklog;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Creates the loader of hooks: it runs each hook for its configuration and parses that. Crontabs
 * and jq programs are checked at once, so that an invalid one is reported with its hook.
 */
export function createHookLoader(
  { host, runner, inProcess, http, hookEnv, jq }: HookLoaderDeps,
  signal: AbortSignal,
): HookLoader {
  return new HookLoader({
    runner,
    inProcess,
    http,
    parser: new HookConfigParser({
      crontab: (expression) => {
        // The zone is unknown here, and validity does not depend on it.
        parseCrontab(expression, 'UTC');
      },
      jqFilter: async (program) => {
        await jq.compile(program, signal);
      },
    }),
    log: componentLog(host, 'hooks'),
    env: hookEnv,
    cwd: host.cwd,
    timeoutMs: CONFIG_TIMEOUT_MS,
  });
}

/**
 * Creates the runtime of a loaded hook: its monitors report to the router. Here events of
 * `events/kubernetes/` cross into the queues; the gate of each monitor holds them back until the
 * hook has had its Synchronization.
 */
export function createRuntime(
  deps: HookRuntimeDeps,
  hook: Hook,
  router: Pick<TaskRouter, 'onKubernetesEvent'>,
): HookRuntime {
  const { host, cluster, jq, reflectors, metrics } = deps;
  return new HookRuntime(hook, {
    clock: host.clock,
    stop: deps.stop,
    onEvent: (runtime, binding, event) => router.onKubernetesEvent(runtime, binding, event),
    createMonitor: (owner, binding, onEvent) => {
      const labels = bindingLabels(owner, binding);
      return createMonitor(binding.watch, {
        find: (apiVersion, kind, signal) => cluster.discovery.find(apiVersion, kind, signal),
        jq,
        clock: host.clock,
        random: host.random,
        log: componentLog(host, 'kube').child({
          module: labels.module,
          hook: owner.name,
          'binding.name': binding.name,
        }),
        reflectors,
        onEvent,
        // A binding with a Synchronization reads its snapshot first, since that run begins with it.
        isReadFirst: binding.executeOnSynchronization,
        reduce: (event) => reduceEvent(event, owner.config.version, binding),
        backlog: deps.backlog,
        owner: { module: labels.module, hook: owner.name },
        metrics: {
          snapshotObjects: (_binding, count) => metrics.setSnapshotObjects(labels, count),
          snapshotGone: () => metrics.forgetSnapshot(labels),
          filterDuration: (_binding, durationMs) => metrics.jqFilter(labels, durationMs / 1_000),
          eventDuration: (_binding, durationMs) => metrics.kubeEvent(labels, durationMs / 1_000),
        },
      });
    },
  });
}
