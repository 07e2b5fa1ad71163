import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { Redactor } from '@addon-operator/base/redactor';
import { NO_TRACER, type Tracer } from '@addon-operator/base/trace';
import type { HelmBinary } from '@addon-operator/helm/find-helm';
import { type HelmSearch, locateHelm } from '@addon-operator/helm-releases/start-helm';
import type { JqEngine } from '@addon-operator/jq/engines/jq-engine';
import { PlainFilters } from '@addon-operator/jq/engines/plain-filters';
import { selectJqEngine } from '@addon-operator/jq/engines/select-jq-engine';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { sourcePlaces } from '@addon-operator/logging/source-places';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { guardedRunner } from '@addon-operator/process/guarded-runner';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { ExtensionRuntime, type Extensions } from '../extensions/runtime/extension-runtime.ts';
import { AllowedHosts } from '../hooks/http/allowed-hosts.ts';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import { startHttpHooks } from '../hooks/http/start-http-hooks.ts';
import { createWorkerPools } from '../hooks/in-process/create-worker-pools.ts';
import { InProcessHooks } from '../hooks/in-process/in-process-hooks.ts';
import { prepareTemporaryDirectory } from '../hooks/temporary-directory.ts';
import type { Lead } from '../leader/take-lead.ts';
import { BUILT_CODE, COMPILE_CACHE, ownProgram } from '../lib/own-code.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { hookEnvironment } from '../settings/hook-environment.ts';
import { hookLimits } from '../settings/hook-limits.ts';
import type { Settings } from '../settings.ts';
import type { Cluster } from './connect-cluster.ts';
import type { DaemonHost } from './host.ts';

/** The helm taken where the machine has none. */
const PINNED_HELM_MAJOR = 3;

/** Everything below the operator, each part running. */
export interface BaseParts extends HookBase {
  /** Asking helm for its version takes a while, in which modules can be read. @throws OperatorError HELM_NOT_FOUND */
  readonly helmBinary: Promise<HelmBinary>;
}

/** What hooks need, each part running. */
export interface HookBase extends HookTools, HookConnections {
  readonly cluster: Cluster;
  readonly tracing: Tracing;
}

/** What hooks need besides a cluster. */
export interface HookTools {
  readonly tmpDir: string;
  readonly runner: ProcessRunner;
  readonly inProcess: InProcessHooks;
  readonly extensions: Extensions;
  /** Environment of hooks and enabled scripts, without the variables that name their files. */
  readonly hookEnv: Readonly<Record<string, string>>;
  readonly jq: JqEngine;
  /** Throws when nothing may be started any more: the daemon is stopping, or not the leader. */
  readonly check: (isAwaited?: boolean) => void;
}

/** What hooks need of one cluster. */
export interface HookConnections {
  readonly reflectors: SharedReflectors;
  readonly http: HttpHooks;
}

/** How the operator names and records traces. */
export interface Tracing {
  /** Different after each start of the operator. */
  readonly bootId: string;
  readonly tracer: Tracer;
}

const NO_TRACING: Tracing = { bootId: '', tracer: NO_TRACER };

export interface BaseOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly metrics: OperatorMetrics;
  readonly cluster: Cluster;
  readonly lead: Lead;
  /** What `startHookTools` returned, where it was called before; default: it is called now. */
  readonly tools?: Promise<HookTools> | undefined;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Learns the content of Secrets, and takes it out of logs. */
  readonly redactor: Redactor;
  /** Aborts when the operator stops: no further process is started. */
  readonly stop: AbortSignal;
  /** What is started is entered here, to be ended in reverse order. */
  readonly running: AsyncDisposableStack;
}

type ToolOptions = Pick<BaseOptions, 'settings' | 'host' | 'lead' | 'stop' | 'running'>;

export interface ConnectionOptions
  extends Pick<BaseOptions, 'settings' | 'host' | 'metrics' | 'redactor' | 'stop' | 'running'> {
  readonly cluster: Pick<Cluster, 'main' | 'discovery'>;
  /** Of watches that are interrupted; default that of the host. */
  readonly watchClock?: Clock;
}

/**
 * Starts the parts below the operator, in the order in which they need each other.
 *
 * @throws OperatorError when a part cannot be started
 */
export async function startBase(options: BaseOptions): Promise<BaseParts> {
  const { settings, host, stop } = options;
  const parts = await startHookBase(options);
  const { runner, tmpDir } = parts;
  const pinned: HelmSearch['pinned'] = (helmLog, signal) => fetchHelm(host, helmLog, signal);
  const helmBinary = locateHelm({ settings, host, runner, tmpDir, pinned }, stop);
  // A start that fails before it is needed has another reason.
  helmBinary.catch(() => undefined);
  return { ...parts, helmBinary };
}

/**
 * Starts what hooks need: nothing of it needs helm.
 *
 * @throws OperatorError when a part cannot be started
 */
export async function startHookBase(options: BaseOptions): Promise<HookBase> {
  const { cluster, tracing = NO_TRACING } = options;
  const tools = await (options.tools ?? startHookTools(options));
  return {
    ...tools,
    ...connectHooks(options, tools),
    cluster,
    tracing,
  };
}

/**
 * Starts what hooks need besides a cluster.
 *
 * @throws OperatorError when a part cannot be started
 */
export async function startHookTools(options: ToolOptions): Promise<HookTools> {
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
  });
  lead.follow({
    setDeadline: (deadline) => {
      launcher.setDeadline(deadline);
      pools.setDeadline(deadline);
    },
  });
  return { tmpDir, runner, inProcess, extensions, hookEnv, jq, check };
}

/** Lets hooks watch a cluster, and call servers with Secrets of it. */
export function connectHooks(
  options: ConnectionOptions,
  { check }: Pick<HookTools, 'check'>,
): HookConnections {
  const { settings, host } = options;
  const reflectors = createReflectors(options);
  const apiServer = host.env['KUBERNETES_SERVICE_HOST'];
  const hosts = new AllowedHosts({
    entries: settings.httpHookAllowedHosts,
    ...(apiServer === undefined ? {} : { refused: [apiServer] }),
  });
  const { namespace } = settings;
  const { timeoutMs } = hookLimits(settings);
  return { reflectors, http: startHttpHooks({ ...options, namespace, timeoutMs, reflectors, hosts, check }) };
}

/** The launcher, which is a process of its own, and jq, which is looked for while the launcher starts. */
async function startTools(
  { settings, host, lead, stop, running }: ToolOptions,
  tmpDir: string,
): Promise<Pick<BaseParts, 'jq'> & { readonly launcher: Launcher }> {
  const { clock, env } = host;
  const log = componentLog(host, 'jq');
  const launching = startLauncher({
    log: componentLog(host, 'process'),
    clock,
    onDeadlinePassed: lead.onDeadlinePassed,
    tmpDir,
    program: {
      file: fileURLToPath(ownProgram('lib/launcher-main')),
      compileCache: COMPILE_CACHE,
      sourcePlaces: (stack) => sourcePlaces(stack, BUILT_CODE),
    },
  });
  const launched = launching.catch(() => undefined);
  running.defer(async () => {
    const started = await launched;
    await started?.stop();
  });
  const selection = {
    jqPath: settings.jq,
    builtinProgram: fileURLToPath(ownProgram('lib/jq-builtin-main')),
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

function createReflectors({ host, metrics, cluster, watchClock }: ConnectionOptions): SharedReflectors {
  return createSharedReflectors({
    kube: cluster.main,
    clock: watchClock ?? host.clock,
    random: host.random,
    log: componentLog(host, 'kube'),
    rediscover: (resource, signal) => cluster.discovery.rediscover(resource, signal),
    metrics: {
      watchEnded: (_kind, reason) => metrics.watchEnded(reason),
    },
  });
}

/** Fetches the helm taken where the machine has none. */
async function fetchHelm({ env }: DaemonHost, log: Logger, signal: AbortSignal): Promise<string> {
  // What downloads brings a package that takes a twentieth of the code of the operator.
  const { pinnedHelm } = await import('@addon-operator/pinned-tools');
  return await pinnedHelm(
    PINNED_HELM_MAJOR,
    {
      cacheDir: cacheDirectory(env, homedir()),
      onProgress: (progress) => log.info({ progress }, 'fetching the pinned helm'),
    },
    signal,
  );
}
