/**
 * Wiring: starts the parts below the operator in the order in which they need each other. Each part is tested in its room,
 * the order by every daemon of test/lifecycle.
 */
import { homedir } from 'node:os';
import type { Logger } from '@addon-operator/base/log';
import { NO_TRACER, type Tracer } from '@addon-operator/base/trace';
import type { HelmBinary } from '@addon-operator/helm/find-helm';
import {
  connectHooks,
  type HookConnections,
  type HookConnectionsOptions,
  type HookTools,
  type HookToolsOptions,
  startHookTools,
} from '../hook-runs/start-hook-tools.ts';
import { type HelmSearch, locateHelm } from '../releases/start-helm.ts';
import { cacheDirectory } from '../tools/pinned-tools/cache-directory.ts';
import type { Cluster } from './connect-cluster.ts';
import type { DaemonHost } from './host.ts';

/** The major version of helm that is fetched where the machine has none. */
const PINNED_HELM_MAJOR = 3;

/** The running parts below the operator: processes, clients, watches. */
export interface BaseParts extends HookTools, HookConnections {
  readonly cluster: Cluster;
  readonly tracing: Tracing;
  /**
   * The search takes a while, during which modules are read.
   *
   * @throws OperatorError HELM_NOT_FOUND
   */
  readonly helmBinary: Promise<HelmBinary>;
}

/** Names and destination of traces. */
export interface Tracing {
  /** Different after each start of the operator. */
  readonly bootId: string;
  readonly tracer: Tracer;
}

const NO_TRACING: Tracing = { bootId: '', tracer: NO_TRACER };

export interface BaseOptions extends HookToolsOptions, HookConnectionsOptions {
  readonly settings: HookToolsOptions['settings'] &
    HookConnectionsOptions['settings'] &
    HelmSearch['settings'];
  readonly host: DaemonHost;
  readonly cluster: Cluster;
  /** The result of `startHookTools` if it was called before; default: it is called now. */
  readonly tools?: Promise<HookTools> | undefined;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
}

/**
 * Starts the parts below the operator, in the order of their dependencies.
 *
 * @throws OperatorError when a part cannot be started
 */
export async function startBase(options: BaseOptions): Promise<BaseParts> {
  const { settings, host, lead, cluster, metrics, redactor, stop, running, tracing = NO_TRACING } = options;
  const tools = await (options.tools ?? startHookTools({ settings, host, lead, stop, running }));
  const { tmpDir, runner, inProcess, extensions, hookEnv, jq, check } = tools;
  const { reflectors, http } = connectHooks(
    { settings, host, cluster, metrics, redactor, stop, running },
    tools,
  );
  const pinned: HelmSearch['pinned'] = (helmLog, signal) => fetchHelm(host, helmLog, signal);
  const helmBinary = locateHelm({ settings, host, runner, tmpDir, pinned }, stop);
  // The rejection is reported where helm is needed; a start that fails earlier has its own reason.
  helmBinary.catch(() => undefined);
  return {
    cluster,
    tracing,
    tmpDir,
    runner,
    inProcess,
    extensions,
    hookEnv,
    jq,
    check,
    reflectors,
    http,
    helmBinary,
  };
}

/** Fetches helm where the machine has none. */
async function fetchHelm({ env }: DaemonHost, log: Logger, signal: AbortSignal): Promise<string> {
  // Imported on demand: the code for downloads is a twentieth of the operator's code.
  const { pinnedHelm } = await import('../tools/pinned-tools/pinned-tools.ts');
  return await pinnedHelm(
    PINNED_HELM_MAJOR,
    {
      cacheDir: cacheDirectory(env, homedir()),
      onProgress: (progress) => log.info({ progress }, 'fetching the pinned helm'),
    },
    signal,
  );
}
