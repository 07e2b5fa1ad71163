import { dirname, join, resolve } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { FlowHookSetup, FlowModule, HookLog } from '@addon-operator/sdk';
import { FlowHooks } from '@addon-operator/sdk/host';
import type { Module } from '../../modules/module.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { ExtensionSettings } from '../../settings/hook-settings.ts';
import { warnOfMissingDirectory } from '../runtime/extension-files.ts';
import type { Extensions } from '../runtime/extension-runtime.ts';
import type { FlowPassDeps } from './flow-pass.ts';
import { loadFlowHooks } from './load-flow-hooks.ts';

export interface FlowHooksOptions {
  readonly settings: FlowHooksSettings & Pick<InstanceSettings, 'namespace'>;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly extensions: Extensions;
  /** The next run of a module with `reconcileEvery`. */
  readonly nextReconcile: ContinuousReconcileDeps['nextAfter'];
}

type FlowHooksSettings = Pick<ExtensionSettings, 'flowHooksDir'> & Pick<DirectorySettings, 'globalHooksDir'>;

/**
 * Creates the flow hooks: those of users, and built-in ones that a module needs.
 *
 * @returns undefined when there are none, so that a reconcile costs nothing extra
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createFlowHooks(
  { settings, host: { clock, log }, extensions, nextReconcile }: FlowHooksOptions,
  modules: readonly Module[],
  signal: AbortSignal,
): Promise<FlowPassDeps | undefined> {
  warnOfMissingDirectory(settings.flowHooksDir, '--flow-hooks-dir', log);
  const hooks = new FlowHooks();
  // The built-in hook comes first, so that hooks of users can shorten its time.
  if (modules.some(({ manifest }) => manifest.reconcileEvery !== undefined))
    hooks.registerHookSetup(continuousReconcile({ now: () => clock.wallMs(), nextAfter: nextReconcile }));
  for (const setup of await loadFlowHooks(flowHooksDir(settings), extensions, log, signal))
    hooks.registerHookSetup(setup);
  if (hooks.entries.length === 0) return undefined;
  return { hooks: hooks.seal(), target: { namespace: settings.namespace }, log: hookLogOf(log) };
}

/** The directory of the users' flow hooks: the setting, else next to the global hooks. */
function flowHooksDir({ flowHooksDir: directory, globalHooksDir }: FlowHooksSettings): string {
  return directory === '' ? join(dirname(resolve(globalHooksDir)), 'flow-hooks') : resolve(directory);
}

/** The logger for built-in hooks, which run in this process. */
function hookLogOf(log: Logger): HookLog {
  return {
    debug: (message, fields = {}) => log.debug(fields, message),
    info: (message, fields = {}) => log.info(fields, message),
    warn: (message, fields = {}) => log.warn(fields, message),
    error: (message, fields = {}) => log.error(fields, message),
  };
}

interface ContinuousReconcileDeps {
  readonly now: () => number;
  /**
   * The next due time of a `reconcileEvery` after `afterMs`, both in milliseconds since the epoch;
   * undefined: never.
   */
  readonly nextAfter: (reconcileEvery: string, afterMs: number) => number | undefined;
}

/**
 * The built-in flow hook for `reconcileEvery`: reconciles modules again after that time, although
 * nothing has changed. A stalled module is left until something changes.
 */
export function continuousReconcile({ now, nextAfter }: ContinuousReconcileDeps): FlowHookSetup {
  const dueMs = ({ reconcileEvery }: FlowModule, afterMs: number): number | undefined =>
    reconcileEvery === null ? undefined : nextAfter(reconcileEvery, afterMs);
  return {
    hookTypes: ['ShouldReconcile', 'End'],
    hook: ({ type, module }) => {
      if (module === undefined || module.phase === 'Failed' || module.phase === 'Deleting') return undefined;
      const nowMs = now();
      // At the End the time counts from now, before it from the last reconcile, so that a restart
      // does not postpone it.
      const nextMs = dueMs(module, type === 'End' ? nowMs : (module.lastReconcileMs ?? 0));
      if (nextMs === undefined) return undefined;
      const leftMs = Math.max(1, nextMs - nowMs);
      if (type === 'End') return { requeueAfterMs: leftMs };
      // It is reconciled anyway, and its End hook schedules the next one.
      if (module.phase === 'Init' || module.operation !== null) return undefined;
      return nextMs <= nowMs ? { abortReconcile: false } : { abortReconcile: true, requeueAfterMs: leftMs };
    },
  };
}
