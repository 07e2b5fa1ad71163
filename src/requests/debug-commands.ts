import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { QueueSet } from '@addon-operator/task-queue/queue-set';
import { fullName } from '../hooks/hook.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pause } from '../model/pause-entry.ts';
import { ALL_MODULES, type Pauses } from '../model/pauses.ts';
import { heldText } from '../model/purge-guard.ts';
import type { ModuleExtensions } from '../model/services.ts';
import { FILES_CHANGED, type Task } from '../model/tasks.ts';
import { goneDirectory } from '../modules/find-modules.ts';
import { entryOf, type GoneRefusal, type Module } from '../modules/module.ts';
import { directoryContent } from '../modules/modules-directory.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import { type FinishDeletionParts, queuePurge } from '../reconcile/finish-deletion.ts';
import type { ModuleMemory } from '../reconcile/module-memory.ts';
import { confirmPurge, type PurgeReleasesParts } from '../reconcile/purge-releases.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { HookAbortRequest } from '../status/hook-abort.ts';
import type { HookTriggerRequest } from '../status/hook-trigger.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { type AbortHookParts, abortHook } from './abort-hook.ts';
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

export interface ConfirmFilesParts {
  readonly registry: Pick<ModuleRegistry, 'find'>;
  readonly converge: Pick<ConvergeState, 'purge'>;
  readonly memory: Pick<ModuleMemory, 'forget'>;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly log: Logger;
}

/**
 * Takes the files that a module has now for all that it is meant to have. Where nothing of it can be read there are none: that
 * is a decision about the module, which is made in another way.
 *
 * @returns why nothing is confirmed, and what to do instead; undefined when it is done
 */
export async function confirmFiles(operator: ConfirmFilesParts, name: string): Promise<string | undefined> {
  const { registry, converge, memory, router, log } = operator;
  const { purge } = converge;
  if (typeof purge !== 'string' && purge.releases.includes(name))
    return `no file of module ${name} can be confirmed, as it has no directory; ${heldText(purge)}`;
  const module = registry.find(name);
  if (module?.refusal?.type !== 'gone') return `no files of module ${name} are missing`;
  const { lost, reason, remedy } = await currentRefusal(module, module.refusal);
  if (lost === 'directory') return `no file of module ${name} can be confirmed: ${reason}; ${remedy}`;
  log.warn({ module: name, reason }, 'Missing files of the module are confirmed');
  memory.forget(name);
  router.main.prepend({ type: 'ReloadFiles', saved: [], modules: new Set([name]), trigger: FILES_CHANGED });
  router.main.cutDelay();
  return undefined;
}

/** Since a file was found missing the whole directory may have gone: it is a moment until that is noticed. */
async function currentRefusal(module: Module, refusal: GoneRefusal): Promise<GoneRefusal> {
  if (refusal.lost === 'directory') return refusal;
  const entry = entryOf(module);
  const content = await directoryContent(entry);
  return content.type === 'module' ? refusal : goneDirectory(entry, content.problem);
}

/** What the functions here use of the operator. */
type ReleaseFinalizerParts = {
  readonly registry: ModuleRegistry;
  readonly queues: QueueSet<Task>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers'>;
} & FinishDeletionParts;

/**
 * Result of the request to delete a module without its reconcile webhook. `enabled`: nothing, the module is not being deleted.
 * `deleting`: its deletion goes on now, without the hook. `released`: there was only the object left, it may go.
 * `not-held`: there is nothing that a hook keeps.
 */
type ReleaseOutcome = 'enabled' | 'deleting' | 'released' | 'not-held';

/**
 * Releases the finalizer of a module whose reconcile webhook cannot finalize it.
 *
 * @param name of a module; its directory may be gone
 * @throws errors of the client
 */
export async function releaseFinalizer(
  operator: ReleaseFinalizerParts,
  name: string,
  signal: AbortSignal,
): Promise<ReleaseOutcome> {
  const { finalizers } = operator.extensions;
  const { queues } = operator;
  const module = operator.registry.find(name);
  if (module !== undefined && operator.registry.isEnabled(module.name)) return 'enabled';
  const queue = queues.all.find(({ entries }) =>
    entries.some(({ task }) => task.type === 'ModuleDelete' && task.module === name),
  );
  if (queue !== undefined) {
    finalizers?.skip(name);
    const [head] = queue.entries;
    if (head?.task.type === 'ModuleDelete' && head.task.module === name) queue.cutDelay();
    return 'deleting';
  }
  if (finalizers === undefined || !(await finalizers.isHeld(name, signal))) return 'not-held';
  if (module !== undefined) {
    await finalizers.releaseAbandoned(name, signal);
    return 'released';
  }
  finalizers.skip(name);
  queuePurge(operator, name, 'Finalizer-Released');
  return 'deleting';
}
