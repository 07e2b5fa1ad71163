import type { Clock } from '@addon-operator/base/clock';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { Redactor } from '@addon-operator/masking/redactor';
import type { DaemonHost } from '../app/host.ts';
import {
  connectHooks,
  type HookConnectionsOptions,
  type HookTools,
  type HookToolsOptions,
  startHookTools,
} from '../hook-runs/start-hook-tools.ts';
import { ALONE } from '../leader/take-lead.ts';
import type { MetricsSettings } from '../settings/server-settings.ts';
import { createMetrics } from '../views/daemon-metrics.ts';
import { createLoneHook, type LoneHookFile, type LoneHookParts } from './create-lone-hook.ts';
import type { LoneHook } from './lone-hook.ts';

/** Puts hooks into operation one after another, each on a cluster of its own. */
export interface HookLab {
  /**
   * @throws OperatorError when the hook, its configuration, its module or the ConfigMap cannot be used
   */
  open(options: LabHookOptions): Promise<LoneHook>;
  readonly jq: HookTools['jq'];
  readonly metrics: LoneHookParts['metrics'];
  /** Variables of executables. */
  readonly hookEnv: HookTools['hookEnv'];
}

export interface LabHookOptions extends LoneHookFile, Pick<LoneHookParts, 'running' | 'stop'> {
  readonly settings: LoneHookParts['settings'] & HookConnectionsOptions['settings'];
  readonly host: Pick<DaemonHost, 'log'>;
  readonly clients: LabClients;
  /** Default that of the host. */
  readonly clocks?: LabClocks;
  /** Further variables of executables. */
  readonly env: Readonly<Record<string, string>>;
}

interface LabClients {
  readonly main: KubeClient;
  /** Of `main`; default: one that knows nothing yet. */
  readonly discovery?: Discovery;
  /** For what the hook writes. */
  readonly patcher: KubeClient;
  readonly author?: NonNullable<LoneHookParts['author']>;
}

interface LabClocks {
  /** Of the rate limit of the hook. */
  readonly run: Clock;
  /** Of watches that are interrupted. */
  readonly watch: Clock;
}

/**
 * Starts what all hooks share: the launcher of processes, jq, and the process of in-process hooks. All of it has ended when
 * this resolves, and its temporary files are gone.
 *
 * @throws OperatorError when a part cannot be started; errors of `use`
 */
export async function withHookLab<T>(
  given: { readonly settings: HookToolsOptions['settings'] & MetricsSettings; readonly host: DaemonHost },
  use: (lab: HookLab) => Promise<T>,
  stop: AbortSignal,
): Promise<T> {
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const { host } = given;
  const settings = { ...given.settings, tmpDir: directory };
  const metrics = createMetrics(settings, { version: host.version });
  const tools = await startHookTools({ settings, host, lead: ALONE, stop, running });
  return await use({
    jq: tools.jq,
    hookEnv: tools.hookEnv,
    metrics,
    open: async (options) => {
      const { clients, clocks, running: opened, stop: ended } = options;
      const { log } = options.host;
      const { path, place, tap, loaded } = options;
      const { main, patcher, author } = clients;
      const discovery = clients.discovery ?? new Discovery({ kube: main, clock: host.clock, log });
      const common = {
        settings: { ...options.settings, tmpDir: directory },
        host: { ...host, log },
        cluster: { main, patcher, discovery },
        metrics,
        redactor: new Redactor(),
        running: opened,
        stop: ended,
      };
      const { tmpDir, runner, inProcess, jq } = tools;
      const hookEnv = { ...tools.hookEnv, ...options.env };
      return await createLoneHook({
        ...common,
        tools: { tmpDir, runner, inProcess, jq, hookEnv },
        connections: connectHooks({ ...common, watchClock: clocks?.watch }, tools),
        file: { path, place, tap, loaded },
        runClock: clocks?.run,
        author,
      });
    },
  });
}
