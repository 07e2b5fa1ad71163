import { Redactor } from '@addon-operator/base/redactor';
import { scratchDirectory } from '@addon-operator/base/scratch-directory';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { DaemonHost } from '../app/host.ts';
import { connectHooks, startHookTools } from '../app/infrastructure.ts';
import { ALONE } from '../leader/take-lead.ts';
import { createMetrics } from '../operator/daemon-metrics.ts';
import type { Settings } from '../settings.ts';
import { createLoneHook, type LoneHookParts } from './create-lone-hook.ts';
import type { LoneHook } from './lone-hook.ts';

/** Puts hooks into operation one after another, each on a cluster of its own. */
export interface HookLab {
  /**
   * @throws OperatorError when the hook, its configuration, its module or the ConfigMap cannot be used
   */
  open(options: LabHookOptions): Promise<LoneHook>;
  readonly jq: LoneHookParts['jq'];
  readonly metrics: LoneHookParts['metrics'];
  /** Variables of executables. */
  readonly hookEnv: LoneHookParts['hookEnv'];
}

export interface LabHookOptions
  extends Pick<LoneHookParts, 'path' | 'place' | 'tap' | 'running' | 'stop' | 'runClock' | 'loaded'> {
  readonly settings: Settings;
  readonly host: Pick<DaemonHost, 'log'>;
  readonly kube: KubeClient;
  /** For what the hook writes. */
  readonly patcher: KubeClient;
  /** Further variables of executables. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts what all hooks share: the launcher of processes, jq, and the process of in-process hooks. All of it has ended when
 * this resolves, and its temporary files are gone.
 *
 * @throws OperatorError when a part cannot be started; errors of `use`
 */
export async function withHookLab<T>(
  given: { readonly settings: Settings; readonly host: DaemonHost },
  use: (lab: HookLab) => Promise<T>,
  stop: AbortSignal,
): Promise<T> {
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const { host } = given;
  const settings: Settings = { ...given.settings, tmpDir: directory };
  const metrics = createMetrics(settings, { version: host.version });
  const tools = await startHookTools({ settings, host, lead: ALONE, stop, running });
  return await use({
    jq: tools.jq,
    hookEnv: tools.hookEnv,
    metrics,
    open: async ({ settings: own, host: { log }, kube, patcher, env, ...options }) => {
      const hookHost = { ...host, log };
      const cluster = { main: kube, patcher, discovery: new Discovery({ kube, clock: host.clock, log }) };
      const hookSettings = { ...own, tmpDir: directory };
      const common = { settings: hookSettings, host: hookHost, metrics, redactor: new Redactor(), cluster };
      return await createLoneHook({
        ...tools,
        ...common,
        ...options,
        ...connectHooks({ ...common, ...options }, tools),
        hookEnv: { ...tools.hookEnv, ...env },
      });
    },
  });
}
