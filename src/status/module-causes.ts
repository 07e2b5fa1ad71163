/**
 * Computes why a module is not ready, or does not follow a change: a list of causes, the one that has to be removed first
 * in front. Its inputs are the explanation of the module and the obstacles around it (queues, hooks, watches, the
 * ConfigMap). Conditions, Events, `explain` and the page all use this list. Sentences contain no relative times, because
 * they are stored in objects, and each change of a sentence is a write.
 */

import { headlineOf } from '@addon-operator/strings/headline';
import type { Cause, WhyId } from './cause.ts';
import { errorOfTask } from './error-of-task.ts';
import type { ModuleDrift, ModuleExplanation, ModuleFailure, RequiredModule } from './module-explanation.ts';
import { placeOfHook } from './running-hook.ts';

/** A task at the head of a queue that fails, or whose hook runs for long. */
export interface BlockingTask {
  readonly queue: string;
  /** Such as `GlobalHookRun a.sh`. */
  readonly task: string;
  /** Empty while it has not failed. */
  readonly error: string;
  /** The executable or file that failed; empty if that is not known. */
  readonly file: string;
  /** Null while an attempt runs. */
  readonly nextAttemptAt: string | null;
  /** The hook that runs for long; null if there is none. */
  readonly hook: LongHook | null;
}

/** A hook that runs for longer than a reader would expect. */
export interface LongHook {
  /** `web/hooks/a.sh`, or the name of a global hook. */
  readonly hook: string;
  readonly binding: string;
  /** Empty for a request to a webhook. */
  readonly queue: string;
  /** Type of the task that runs it; empty for a request to a webhook. */
  readonly task: string;
  /** Null for a hook without a process of its own. */
  readonly pid: number | null;
  readonly since: string;
  /** It runs for so long that it probably hangs. */
  readonly isStuck: boolean;
}

/** A hook of which a run failed that is not retried. */
export interface FailedHook {
  /** `web/hooks/a.sh`. */
  readonly hook: string;
  readonly text: string;
  readonly remedy: string;
}

/** Facts about obstacles of a module, in addition to its own state. */
export interface Obstacles {
  /** Why the ConfigMap is refused; null while it is accepted. */
  readonly configProblem: string | null;
  /** The command that edits the ConfigMap. */
  readonly editConfigMap: string;
  /** Sentences about changed files that could not be loaded; always empty without `--watch-files`. */
  readonly unloadedFiles: readonly string[];
  /** In the way of all modules. */
  readonly blocksAll: BlockingTask | null;
  /** In front of a task of the module. */
  readonly blocksOwn: BlockingTask | null;
  /** Hooks of the module that have been running for long, the longest running first. */
  readonly hooks: readonly LongHook[];
  readonly failedHooks: readonly FailedHook[];
  /** Sentences about kubernetes bindings of its hooks without a current snapshot. */
  readonly staleBindings: readonly { readonly text: string; readonly isForbidden: boolean }[];
  /** There is work to do, and neither a task for it nor a pause, because a flow hook ended the reconcile. */
  readonly isPutOff: boolean;
  /** A run was left out because of a pause. */
  readonly isRunDeferred: boolean;
  readonly isDeployed: boolean;
  /** A sentence of its readiness probe; null while it is ready, or has none. */
  readonly notReady: string | null;
  /** Progress of a run outside of a converge. */
  readonly progress: 'none' | 'pending' | 'running';
}

export const NO_OBSTACLES: Obstacles = {
  configProblem: null,
  editConfigMap: 'kubectl edit configmap',
  unloadedFiles: [],
  blocksAll: null,
  blocksOwn: null,
  hooks: [],
  failedHooks: [],
  staleBindings: [],
  isPutOff: false,
  isRunDeferred: false,
  isDeployed: true,
  notReady: null,
  progress: 'none',
};

type Explained = Pick<
  ModuleExplanation,
  | 'module'
  | 'status'
  | 'source'
  | 'reason'
  | 'path'
  | 'requires'
  | 'step'
  | 'failure'
  | 'pause'
  | 'drift'
  | 'nextReconcileAt'
  | 'waitsFor'
  | 'held'
>;

const RETRIED = 'the operator retries by itself';

/**
 * All causes of a module, the one that has to be removed first in front. The conditions of its object, its Events, the
 * commands and the page all show these causes, so that they cannot contradict each other.
 */
export function causesOf(explained: Explained, obstacles: Obstacles): readonly Cause[] {
  return [...allCauses(explained, obstacles)];
}

/** The first of them, which is all that lists of modules show; undefined if nothing holds the module up. */
export function firstCauseOf(explained: Explained, obstacles: Obstacles): Cause | undefined {
  const [first] = allCauses(explained, obstacles);
  return first;
}

function* allCauses(explained: Explained, obstacles: Obstacles): Generator<Cause> {
  yield* decisionCauses(explained, obstacles);
  yield* runCauses(explained, obstacles);
}

/** Causes that prevent the decision about the module, or its effect. */
function* decisionCauses(
  explained: Explained,
  { configProblem, editConfigMap, unloadedFiles, blocksAll }: Obstacles,
): Generator<Cause> {
  const { status, reason, waitsFor, held } = explained;
  if (status === 'unauthorized')
    yield cause('authorized', 'Unauthorized', reason, {
      isStalled: true,
      remedy:
        'correct what the reason names: the files of the module and their signature, the keyring, the lock file or the record of serial numbers',
    });
  if (status === 'held') {
    const {
      cause: why,
      text,
      remedy,
    } = held ?? { cause: 'DirectoryGone', text: reason, remedy: waitsFor[0] };
    const node = why === 'EnabledScriptFailed' ? 'enabled' : 'found';
    const until = explained.failure?.nextAttemptAt ?? null;
    yield cause(node, why, text, { isStalled: true, until, remedy: remedy ?? null });
  }
  for (const sentence of unloadedFiles)
    yield cause('found', 'FilesNotLoaded', sentence, {
      isStalled: true,
      remedy: 'correct the files, they are loaded when they are saved',
    });
  if (configProblem !== null)
    yield cause(
      'config',
      'ConfigMapRefused',
      `the ConfigMap is refused, so older values stay in use: ${headlineOf(configProblem)}`,
      { isStalled: true, ref: 'configmap', remedy: `correct the ConfigMap with \`${editConfigMap}\`` },
    );
  // A refused ConfigMap fails at the head of `main` as well.
  else if (blocksAll !== null) yield blocked('enabled', blocksAll);
}

function* runCauses(explained: Explained, obstacles: Obstacles): Generator<Cause> {
  const { status, pause } = explained;
  const {
    blocksAll,
    blocksOwn,
    hooks,
    failedHooks,
    staleBindings,
    isPutOff,
    isRunDeferred,
    isDeployed,
    notReady,
    progress,
  } = obstacles;
  // A module that is not run has no causes in its run.
  if (status === 'disabled' && explained.source === 'requirement') yield requirementMissing(explained);
  if (status === 'disabled' || status === 'held' || status === 'unauthorized') return;
  // The other operator says what it waits for.
  if (status === 'paused' && pause?.handedOverTo !== undefined) return;
  if (status === 'paused' && (!isDeployed || isRunDeferred || progress !== 'none')) {
    const end = pause?.until ?? null;
    const until = end === null ? '' : ` until ${end}`;
    const what = isDeployed ? ', and a run waits for the end of the pause' : ' before its run finished';
    yield cause('not-paused', 'Paused', `Paused${until}${what}: ${pause?.reason ?? ''}`, {
      isStalled: end === null,
      until: end,
      remedy: resumeCommand(explained),
    });
  }
  if (status === 'failing' || status === 'isolated' || (status === 'deleting' && explained.failure !== null))
    yield failed(explained, progress !== 'none');
  else if (status === 'deleting' && isPutOff) yield deletionPutOff(explained);
  for (const { hook, text, remedy } of failedHooks)
    yield cause('hooks', 'HookFailed', text, { isStalled: true, ref: `hook/${hook}`, remedy });
  for (const hook of hooks) yield running(nodeOfHook(hook.binding, explained.step), hook);
  if (blocksOwn !== null && blocksOwn.queue !== blocksAll?.queue) yield blocked('queue', blocksOwn);
  for (const { text, isForbidden } of staleBindings)
    yield cause('synchronized', isForbidden ? 'Forbidden' : 'WatchFailed', text, {
      isStalled: true,
      remedy: isForbidden ? 'grant the permission; `addon-operator rbac` prints the rules' : null,
    });
  if (notReady !== null && explained.step === 'ready')
    yield cause('ready', 'NotReady', notReady, { isStalled: false, ref: `module/${explained.module}` });
  yield* driftCauses(explained.drift, explained.module);
}

/** Without a time nothing starts the deletion again by itself. */
function deletionPutOff({ module, nextReconcileAt }: Explained): Cause {
  return cause('enabled', 'DeletionPutOff', 'a flow hook ended its deletion', {
    isStalled: nextReconcileAt === null,
    until: nextReconcileAt,
    ref: `module/${module}`,
    remedy: `start it again with \`addon-operator module reconcile ${module}\``,
  });
}

/** Flags enable the module, and what it requires does not let it run. */
function requirementMissing({ module, reason, requires }: Explained): Cause {
  const missing = requires.find(({ unmet }) => unmet !== null);
  return cause('requirements', 'RequirementMissing', reason, {
    isStalled: true,
    ...(missing !== undefined && {
      ref: `module/${missing.name}`,
      remedy: requirementRemedy(module, missing),
    }),
  });
}

function requirementRemedy(module: string, { name, range, unmet }: RequiredModule): string {
  const version = range === null ? '' : ` in version ${range}`;
  const explain = `\`addon-operator explain module ${name}\``;
  switch (unmet?.type) {
    case 'absent':
      return `add module ${name}${version}`;
    case 'unauthorized':
      return `authorize module ${name}; ${explain} says why it is not`;
    case 'held':
      return `fix module ${name}; ${explain} says why it is held`;
    case 'version-unknown':
      return `set the version of module ${name} in its module.yaml or Chart.yaml`;
    case 'version':
      return `install module ${name}${version}, or change the range in the module.yaml of module ${module}`;
    case 'disabled':
    case undefined:
      return `enable module ${name}${version}; ${explain} says why it is disabled`;
  }
}

function failed(explained: Explained, isActive: boolean): Cause {
  const { module, failure, requires, status } = explained;
  const ref = `module/${module}`;
  if (failure === null) {
    const broken = requires.find((other) => other.status === 'failing' || other.status === 'isolated');
    const sentence =
      broken === undefined ? 'A required module fails' : `It waits for module ${broken.name}, which fails`;
    return cause('requirements', 'RequirementFailed', sentence, {
      isStalled: true,
      ...(broken !== undefined && {
        ref: `module/${broken.name}`,
        remedy: `fix module ${broken.name}; \`addon-operator explain module ${broken.name}\` says why it fails`,
      }),
    });
  }
  const message = headlineOf(failureMessage(failure));
  const node = status === 'deleting' ? 'enabled' : nodeOfFailure(explained, failure);
  if (failure.isGivenUp && isActive)
    return cause(node, 'RunFailed', `${message}; it is run again after a change or a request`, {
      isStalled: false,
      ref,
    });
  if (failure.isGivenUp)
    return cause(
      node,
      'RunFailed',
      `${message}; it is not retried until something about the module changes`,
      {
        isStalled: true,
        ref,
        remedy: `fix it, then \`addon-operator module reconcile ${module}\``,
      },
    );
  const isInvalid = failure.code === 'HOOK_CONFIG_INVALID';
  return cause(isInvalid ? 'found' : node, isInvalid ? 'ModuleInvalid' : 'RunFailed', message, {
    // An extension or a hook makes it wait, which is no error.
    isStalled: failure.code !== 'RELEASE_BLOCKED' && failure.code !== 'HOOK_TEMPORARY',
    until: failure.nextAttemptAt,
    ref,
    remedy: retryRemedy(failure.place?.type === 'hook' ? failure.place.file : ''),
  });
}

/** The code comes first, so that it is not what a long message loses. */
export function failureMessage({ code, error }: ModuleFailure): string {
  return code === undefined ? error : `${code}: ${error}`;
}

/** What to do about a failure that is retried. @param file the hook or script that failed; empty if not known */
export function retryRemedy(file: string): string {
  return file === ''
    ? `correct what the error names; ${RETRIED}`
    : `correct ${file} or what its error names; ${RETRIED}`;
}

/** The condition that a failure belongs to, by the place where it happened. */
function nodeOfFailure({ step }: Explained, { place }: ModuleFailure): WhyId {
  if (place?.type === 'requirements') return 'requirements';
  if (place?.type === 'hook') return nodeOfHook(place.binding, step);
  return isBeforeHelm(step) ? 'synchronized' : 'helm';
}

/** The condition that a hook belongs to, by its kind of binding and how far the run of its module has come. */
function nodeOfHook(binding: string, step: string): WhyId {
  switch (binding) {
    case 'beforeHelm':
      return 'before-helm';
    case 'afterHelm':
      return 'ready';
    case 'onStartup':
    case 'beforeDeleteHelm':
    case 'afterDeleteHelm':
      return 'synchronized';
    default:
      // Until then nothing but Synchronizations runs.
      return isBeforeHelm(step) ? 'synchronized' : 'hooks';
  }
}

function isBeforeHelm(step: string): boolean {
  return step === 'startup' || step.includes('synchronization');
}

/** Separates task and error in the sentence about a blocked queue; `isSameBlock` splits at it. */
const FAILS = ' fails: ';

/**
 * Whether two sentences about a failing task say the same, apart from numbers in the error, such as a time or a pid: all
 * modules behind the task have the sentence, and each attempt would write all their objects.
 */
export function isSameBlock(one: string, other: string): boolean {
  const [task, ...error] = one.split(FAILS);
  const [otherTask, ...otherError] = other.split(FAILS);
  return task === otherTask && withoutNumbers(error.join()) === withoutNumbers(otherError.join());
}

function withoutNumbers(sentence: string): string {
  return sentence.replaceAll(/[0-9]+/gu, '');
}

/** Hundreds of modules may be behind the same task, with the same sentence. */
const BLOCKED = new WeakMap<BlockingTask, Cause>();

function blocked(node: WhyId, blocking: BlockingTask): Cause {
  const known = BLOCKED.get(blocking);
  if (known?.node === node) return known;
  const made = blockedBy(node, blocking);
  BLOCKED.set(blocking, made);
  return made;
}

function blockedBy(node: WhyId, { queue, task, error, file, nextAttemptAt, hook }: BlockingTask): Cause {
  const ref = `queue/${queue}`;
  if (error === '' && hook !== null) return { ...running(node, hook), ref };
  return cause(
    node,
    'QueueBlocked',
    `${task} at the head of queue ${queue}${FAILS}${headlineOf(errorOfTask(task, error))}`,
    {
      isStalled: true,
      until: nextAttemptAt,
      ref,
      remedy: retryRemedy(file),
    },
  );
}

function running(node: WhyId, long: LongHook): Cause {
  const { hook, binding, since, isStuck } = long;
  const place = [binding, placeOfHook(long)].filter((sentence) => sentence !== '').join(', ');
  return cause(
    node,
    isStuck ? 'HookHangs' : 'HookRunning',
    `hook ${hook} (${place}) has been running since ${since}`,
    {
      isStalled: isStuck,
      ref: `hook/${hook}`,
      remedy: `if it hangs, end it with \`addon-operator hook abort ${hook}\`, and set --hook-timeout`,
    },
  );
}

function* driftCauses(drift: ModuleDrift | null, module: string): Generator<Cause> {
  for (const { resource, outlook, correction } of drift?.objects ?? []) {
    if (correction === undefined) continue;
    yield cause('ready', 'DriftNotCorrected', `${resource} was changed by others; ${outlook}`, {
      isStalled: correction.isRefused,
      until: correction.at,
      ref: `object/${resource}`,
      remedy: `\`addon-operator explain module ${module}\` names the fields and who changed them`,
    });
  }
}

/** The command that ends the pause of a module. */
export function resumeCommand({ module, pause }: Pick<ModuleExplanation, 'module' | 'pause'>): string {
  return pause?.isOfAll === true ? '`addon-operator resume`' : `\`addon-operator module resume ${module}\``;
}

function cause(
  node: WhyId,
  reason: string,
  text: string,
  more: Pick<Cause, 'isStalled'> & Partial<Cause>,
): Cause {
  return { until: null, ref: null, remedy: null, ...more, node, reason, text };
}
