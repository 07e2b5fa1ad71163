// Starts the processes and threads that hooks need: the launcher (a process of its own), jq, and the worker pools. Nothing is started without the run permit, and the deadline of the leader lease is passed to launcher and pools, which end what runs when it passes.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { JqEngine } from '@addon-operator/jq/engines/jq-engine';
import { PlainFilters } from '@addon-operator/jq/engines/plain-filters';
import { selectJqEngine } from '@addon-operator/jq/engines/select-jq-engine';
import type { ApiHealth } from '@addon-operator/kube-client/api-health';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { sourcePlaces } from '@addon-operator/logging/source-places';
import type { Redactor } from '@addon-operator/masking/redactor';
import { guardedRunner } from '@addon-operator/process/guarded-runner';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import type { RunPermit } from '@addon-operator/process/run-deadline';
import { ExtensionRuntime, type Extensions } from '../extensions/runtime/extension-runtime.ts';
import { allowedHosts } from '../hooks/http/allowed-hosts.ts';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import { startHttpHooks } from '../hooks/http/start-http-hooks.ts';
import { createWorkerPools } from '../hooks/in-process/create-worker-pools.ts';
import { InProcessHooks } from '../hooks/in-process/in-process-hooks.ts';
import { prepareTemporaryDirectory } from '../hooks/temporary-directory.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { BUILT_CODE, COMPILE_CACHE, ownProgram } from '../own-code.ts';
import type { AuthorizationSettings } from '../settings/authorization-settings.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import { hookEnvironment } from '../settings/hook-environment.ts';
import { hookLimits } from '../settings/hook-limits.ts';
import type { HookRunSettings, HttpHookSettings } from '../settings/hook-settings.ts';

/** The parts that hooks need without a cluster. */
export interface HookTools {
  readonly tmpDir: string;
  readonly runner: ProcessRunner;
  readonly inProcess: InProcessHooks;
  readonly extensions: Extensions;
  /** Environment of hooks and enabled scripts, without the variables that name their files. */
  readonly hookEnv: Readonly<Record<string, string>>;
  readonly jq: JqEngine;
  /**
   * Throws when nothing may be started any more: the daemon is stopping, or is not the leader.
   * `isAwaited`: a client waits for the response, so a stopping daemon still runs it.
   */
  readonly check: (isAwaited?: boolean) => void;
}

/** The parts that hooks need of one cluster. */
export interface HookConnections {
  readonly reflectors: SharedReflectors;
  readonly http: HttpHooks;
}

/** The process of the daemon, as hooks see it. */
export interface HookHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** For deadlines that other processes share: a test that moves `clock` does not move them. */
  readonly steadyClock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly version: string;
}

export interface HookToolsOptions {
  readonly settings: HookRunSettings &
    Pick<DirectorySettings, 'tmpDir'> &
    Pick<AuthorizationSettings, 'authPolicy'> &
    Pick<DaemonSettings, 'jq'>;
  readonly host: HookHost;
  readonly lead: RunPermit;
  /** Aborts when the operator stops: no further process is started. */
  readonly stop: AbortSignal;
  /** Receives everything that is started, to be stopped in reverse order. */
  readonly running: AsyncDisposableStack;
}

export interface HookConnectionsOptions extends Pick<HookToolsOptions, 'host' | 'stop' | 'running'> {
  readonly settings: Pick<HookRunSettings, 'hookTimeoutMs' | 'hookOutputLimitBytes'> &
    Pick<HttpHookSettings, 'httpHookAllowedHosts'> &
    Pick<InstanceSettings, 'namespace'>;
  readonly cluster: {
    readonly main: KubeClient;
    readonly discovery: Discovery;
    /** Default: the state that the reflectors observe themselves. */
    readonly health?: ApiHealth;
  };
  readonly metrics: OperatorMetrics;
  /** Learns the content of Secrets, and masks it in logs. */
  readonly redactor: Redactor;
  /** The clock of interrupted watches; default: that of the host. */
  readonly watchClock?: Clock | undefined;
}

/**
 * Starts the parts that hooks need without a cluster.
 *
 * @throws OperatorError when a part cannot be started
 */
export async function startHookTools(options: HookToolsOptions): Promise<HookTools> {
  const { settings, host, lead, stop, running } = options;
  const { clock, log } = host;
  const tmpDir = prepareTemporaryDirectory(settings.tmpDir, log);
  const { launcher, jq } = await startTools(options, tmpDir);
  const runner = guardedRunner(launcher, stop, lead.check);
  const hookEnv = hookEnvironment(host.env, settings);
  const check = (isAwaited = false): void => {
    if (stop.aborted && !isAwaited)
      throw new OperatorError('ABORTED', 'the hook is not started: the daemon is stopping');
    lead.check();
  };
  const pools = createWorkerPools({
    clock,
    log: componentLog(host, 'hooks'),
    env: hookEnv,
    cwd: host.cwd,
    heapLimitBytes: settings.hookMemoryLimitMib * 1024 * 1024,
  });
  running.defer(() => pools.stop('the daemon is stopping'));
  const { timeoutMs, maxOutputBytes } = hookLimits(settings);
  const inProcess = new InProcessHooks({
    pools,
    timeoutMs,
    maxOutputBytes,
    check,
  });
  const extensions = new ExtensionRuntime({
    pools,
    timeoutMs: settings.extensionTimeoutMs,
    maxOutputBytes,
    check,
    // Both enforce the deadline by themselves.
  });
  lead.follow({
    setDeadline: (deadline) => {
      launcher.setDeadline(deadline);
      pools.setDeadline(deadline);
    },
  });
  return { tmpDir, runner, inProcess, extensions, hookEnv, jq, check };
}

/** Lets hooks watch a cluster, and call HTTP servers with Secrets of it. */
export function connectHooks(
  options: HookConnectionsOptions,
  { check }: Pick<HookTools, 'check'>,
): HookConnections {
  const { settings, host, redactor, stop, running } = options;
  const reflectors = createReflectors(options);
  const hosts = allowedHosts(settings.httpHookAllowedHosts, host.env);
  const { namespace } = settings;
  const { timeoutMs } = hookLimits(settings);
  const http = startHttpHooks({
    host,
    namespace,
    timeoutMs,
    reflectors,
    redactor,
    hosts,
    check,
    stop,
    running,
  });
  return { reflectors, http };
}

/** Starts the launcher, and selects jq while it starts. */
async function startTools(
  { settings, host, lead, stop, running }: HookToolsOptions,
  tmpDir: string,
): Promise<Pick<HookTools, 'jq'> & { readonly launcher: Launcher }> {
  const { clock, env } = host;
  const log = componentLog(host, 'jq');
  const launching = startLauncher({
    log: componentLog(host, 'process'),
    clock,
    onDeadlinePassed: lead.onDeadlinePassed,
    tmpDir,
    program: {
      file: fileURLToPath(ownProgram('launcher-main')),
      compileCache: COMPILE_CACHE,
      sourcePlaces: (stack) => sourcePlaces(stack, BUILT_CODE),
    },
  });
  // Deferred before it is awaited: a failing jq must not leave a launcher behind.
  const launched = launching.catch(() => undefined);
  running.defer(async () => {
    const started = await launched;
    await started?.stop();
  });
  const selection = {
    jqPath: settings.jq,
    builtinProgram: fileURLToPath(ownProgram('jq-builtin-main')),
    pathVariable: env['PATH'] ?? '',
    versionFile: join(tmpDir, 'jq-version.json'),
    clock: host.steadyClock,
    log,
  };
  const jq = new PlainFilters(await selectJqEngine(selection, stop));
  running.defer(() => jq.stop());
  log.info({ engine: jq.name }, 'jq engine');
  return { launcher: await launching, jq };
}

/**
 * Creates the shared reflectors: hooks that select the same objects share one list and watch. Their
 * metrics and health are those of the main client.
 */
function createReflectors({ host, metrics, cluster, watchClock }: HookConnectionsOptions): SharedReflectors {
  return createSharedReflectors({
    kube: cluster.main,
    clock: watchClock ?? host.clock,
    random: host.random,
    log: componentLog(host, 'kube'),
    ...(cluster.health && { health: cluster.health }),
    rediscover: (resource, signal) => cluster.discovery.rediscover(resource, signal),
    metrics: {
      watchEnded: (_kind, reason) => metrics.watchEnded(reason),
      objectSetAside: (kind) => metrics.objectSetAside(kind),
    },
  });
}
