import { fullName } from '../hooks/hook.ts';
import type { Model } from '../model/model.ts';
import type { Pause } from '../model/pause-entry.ts';
import { ALL_MODULES, type Pauses } from '../model/pauses.ts';
import type { Releases } from '../model/releases.ts';
import type { ModuleExtensions, Telemetry } from '../model/services.ts';
import type { Queueing } from '../queues/create-queues.ts';
import type { ModuleRecords, Reconcile } from '../reconcile/create-reconcile.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { HookAbortRequest } from '../status/hook-abort.ts';
import type { HookTriggerRequest } from '../status/hook-trigger.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { type AbortHookParts, abortHook } from './abort-hook.ts';
import { confirmFiles } from './confirm-files.ts';
import { releaseFinalizer } from './release-finalizer.ts';
import { releaseUnlock } from './release-unlock.ts';
import { requestOperation } from './request-operation.ts';
import { retryHead } from './retry-head.ts';
import { createRollback, type RollbackParts } from './rollback-module.ts';
import { hooksInOperation, triggerHook } from './trigger-hook.ts';
import { type SetFlagParts, setFlag } from './write-flag.ts';

export interface DebugCommandsParts {
  readonly model: Model;
  readonly queueing: Queueing;
  readonly telemetry: Telemetry;
  readonly execution: AbortHookParts['execution'];
  readonly releases: Releases;
  readonly extensions: Pick<ModuleExtensions, 'finalizers'>;
  readonly records: Pick<ModuleRecords, 'memory'>;
  readonly reconcile: Pick<Reconcile, 'releases'>;
  readonly recorder: Recorder;
  readonly flags: Pick<SetFlagParts, 'kube' | 'ref'>;
  readonly pauses: Pick<Pauses, 'pause' | 'resume' | 'of' | 'isOfAll'>;
  readonly configuration: RollbackParts['configuration'];
  readonly rollback: Pick<RollbackParts, 'writeSection' | 'record' | 'deliveryRollback' | 'stop'>;
}

/**
 * The commands of the debug endpoint, by name. Each gets only the parts that it changes; `server/`
 * checks and parses the requests. A pause without a module is one of all modules.
 */
export function debugCommands(parts: DebugCommandsParts) {
  const { model, queueing, telemetry, execution, releases, extensions, records, reconcile, recorder } = parts;
  const { registry, converge, globalHooks, operations, aborts } = model;
  const { queues, router } = queueing;
  const { clock, log, metrics } = telemetry;
  const triggering = { registry, globalHooks, queues, metrics, log, router };
  const requesting = { registry, router, operations, aborts, log, queues, pauses: model.pauses };
  const deleting = { registry, converge, router, queues, extensions };
  const { memory } = records;
  const rolling = {
    ...parts.rollback,
    registry,
    converge,
    pauses: parts.pauses,
    releases,
    configuration: parts.configuration,
    requesting,
    clock,
    log,
  };
  return {
    pauses: {
      pause: (module: string | undefined, pause: Pick<Pause, 'reason' | 'untilMs'>, signal: AbortSignal) =>
        parts.pauses.pause(module ?? ALL_MODULES, pause, signal),
      resume: (module: string | undefined, signal: AbortSignal) =>
        parts.pauses.resume(module ?? ALL_MODULES, signal),
      nowMs: () => clock.wallMs(),
    },
    rollback: createRollback(rolling),
    releaseFinalizer: (module: string, signal: AbortSignal) => releaseFinalizer(deleting, module, signal),
    requestOperation: (module: string, operation: ModuleOperation) =>
      requestOperation(requesting, module, operation),
    tasks: {
      abortHook: (request: HookAbortRequest) => abortHook({ execution, queues, log }, request),
      retryHead: (queue: string) => retryHead({ queues, log }, queue),
      triggerHook: (request: HookTriggerRequest) => triggerHook(triggering, request),
    },
    recorder,
    setFlag: (module: string, isEnabled: boolean, signal: AbortSignal) =>
      setFlag({ ...parts.flags, registry }, module, isEnabled, signal),
    hooks: () => hooksInOperation(triggering).map(({ hook }) => fullName(hook)),
    releases: {
      unlock: (release: string, signal: AbortSignal) =>
        releaseUnlock({ registry, converge, router, queues, extensions, releases }, release, signal),
      confirmFiles: (module: string) => confirmFiles({ registry, converge, memory, router, log }, module),
      confirmPurge: (signal: AbortSignal) => reconcile.releases.confirm(signal),
    },
  };
}
