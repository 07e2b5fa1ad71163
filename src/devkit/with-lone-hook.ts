import { redactedError } from '@addon-operator/base/redactor';
import { scratchDirectory } from '@addon-operator/base/scratch-directory';
import { withRedactedLog } from '@addon-operator/logging/redacted-log';
import { connectCluster } from '../app/connect-cluster.ts';
import type { DaemonHost } from '../app/host.ts';
import { startHookBase } from '../app/infrastructure.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import { connectAlone } from '../leader/take-lead.ts';
import { createMetrics } from '../operator/daemon-metrics.ts';
import type { Settings } from '../settings.ts';
import { createLoneHook } from './create-lone-hook.ts';
import type { HookPlace } from './hook-place.ts';
import type { LoneHook } from './lone-hook.ts';

export interface LoneHookOptions {
  /** Of the hook and its module; the cluster is that of `kubeConfig`. */
  readonly settings: Settings;
  readonly host: DaemonHost;
  /** Absolute. */
  readonly path: string;
  readonly place: HookPlace;
  /** Comes between the operator and the hook. */
  readonly tap: (runs: HookRuns) => HookRuns;
}

/**
 * Puts one hook into operation, without queues, releases and other hooks. Temporary files are kept apart from those of a
 * running operator.
 *
 * @throws OperatorError when the hook, its configuration, its module or the ConfigMap cannot be used; and what `use` throws
 */
export async function withLoneHook<T>(
  { host: given, settings: wanted, ...options }: LoneHookOptions,
  use: (hook: LoneHook) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { host, redactor } = withRedactedLog(given);
  await using running = new AsyncDisposableStack();
  const directory = await scratchDirectory(running);
  const settings: Settings = { ...wanted, tmpDir: directory };
  const metrics = createMetrics(settings, { version: host.version });
  const common = { settings, host, metrics, redactor, stop: signal, running };
  try {
    const connected = await connectAlone({ connect: () => connectCluster(settings, host, metrics), running });
    const base = await startHookBase({ ...common, ...connected });
    return await use(await createLoneHook({ ...common, ...options, ...base }));
  } catch (error) {
    throw redactedError(error, redactor);
  }
}
