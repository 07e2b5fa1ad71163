import { dirname, join, resolve } from 'node:path';
import { continuousReconcile } from '../extensions/flow/continuous-reconcile.ts';
import type { FlowPassDeps } from '../extensions/flow/flow-pass.ts';
import { loadFlowHooks } from '../extensions/flow/load-flow-hooks.ts';
import { warnOfMissingDirectory } from '../extensions/warn-of-missing-directory.ts';
import type { Logger } from '../lib/log.ts';
import type { Module } from '../modules/module.ts';
import { nextReconcile } from '../operator/reconcile-schedule.ts';
import { FlowHooks } from '../sdk/flow-hooks.ts';
import type { HookLog } from '../sdk/hook-input.ts';
import type { Settings } from '../settings.ts';
import type { BuildOptions } from './build-options.ts';

/**
 * The flow hooks of users, and those of ours that some module asks for.
 *
 * @returns undefined when there are none
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createFlowHooks(
  { settings, host: { clock, log }, base }: BuildOptions,
  modules: readonly Module[],
  signal: AbortSignal,
): Promise<FlowPassDeps | undefined> {
  warnOfMissingDirectory(settings.flowHooksDir, '--flow-hooks-dir', log);
  const hooks = new FlowHooks();
  if (modules.some(({ manifest }) => manifest.reconcileEvery !== undefined))
    hooks.registerHookSetup(continuousReconcile({ now: () => clock.wallMs(), nextAfter: nextReconcile }));
  for (const setup of await loadFlowHooks(flowHooksDir(settings), base.extensions, log, signal))
    hooks.registerHookSetup(setup);
  if (hooks.entries.length === 0) return undefined;
  return { hooks: hooks.seal(), target: { namespace: settings.namespace }, log: hookLogOf(log) };
}

/** Where the flow hooks of users are: as set, else beside the global hooks. */
function flowHooksDir({ flowHooksDir: directory, globalHooksDir }: Settings): string {
  return directory === '' ? join(dirname(resolve(globalHooksDir)), 'flow-hooks') : resolve(directory);
}

/** For hooks of ours, which run in this process. */
function hookLogOf(log: Logger): HookLog {
  return {
    debug: (message, fields = {}) => log.debug(fields, message),
    info: (message, fields = {}) => log.info(fields, message),
    warn: (message, fields = {}) => log.warn(fields, message),
    error: (message, fields = {}) => log.error(fields, message),
  };
}
