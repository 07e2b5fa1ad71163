import type { Clock } from '@addon-operator/base/clock';
import { fullName } from '../hooks/hook.ts';
import type { Pause } from '../model/pause-entry.ts';
import { ALL_MODULES, type Pauses } from '../model/pauses.ts';
import { confirmPurge, type PurgeReleasesParts } from '../reconcile/purge-releases.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { HookAbortRequest } from '../status/hook-abort.ts';
import type { HookTriggerRequest } from '../status/hook-trigger.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { type AbortHookParts, abortHook } from './abort-hook.ts';
import { type ConfirmFilesParts, confirmFiles } from './confirm-files.ts';
import { type ReleaseFinalizerParts, releaseFinalizer } from './release-finalizer.ts';
import { type ReleaseUnlockParts, releaseUnlock } from './release-unlock.ts';
import { type RequestOperationParts, requestOperation } from './request-operation.ts';
import { hooksInOperation, type TriggerHookParts, triggerHook } from './trigger-hook.ts';

/** What the debug endpoint changes on request. A pause without a module is one of all modules. */
export function debugCommands(
  operator: AbortHookParts &
    RequestOperationParts &
    ConfirmFilesParts &
    PurgeReleasesParts &
    ReleaseFinalizerParts &
    ReleaseUnlockParts &
    TriggerHookParts & { readonly recorder: Recorder },
  pauses: Pick<Pauses, 'pause' | 'resume'>,
  clock: Clock,
) {
  return {
    pauses: {
      pause: (module: string | undefined, pause: Pick<Pause, 'reason' | 'untilMs'>, signal: AbortSignal) =>
        pauses.pause(module ?? ALL_MODULES, pause, signal),
      resume: (module: string | undefined, signal: AbortSignal) =>
        pauses.resume(module ?? ALL_MODULES, signal),
      nowMs: () => clock.wallMs(),
    },
    releaseFinalizer: (module: string, signal: AbortSignal) => releaseFinalizer(operator, module, signal),
    requestOperation: (module: string, operation: ModuleOperation) =>
      requestOperation(operator, module, operation),
    abortHook: (request: HookAbortRequest) => abortHook(operator, request),
    recorder: operator.recorder,
    triggerHook: (request: HookTriggerRequest) => triggerHook(operator, request),
    hooks: () => hooksInOperation(operator).map(({ hook }) => fullName(hook)),
    releases: {
      unlock: (release: string, signal: AbortSignal) => releaseUnlock(operator, release, signal),
      confirmFiles: (module: string) => confirmFiles(operator, module),
      confirmPurge: (signal: AbortSignal) => confirmPurge(operator, signal),
    },
  };
}
