import type { FailedTask } from '../../queues/failed-task.ts';
import type { HookRunRef, ProgressEvent } from './progress-event.ts';

export type ModuleProgress =
  | { readonly type: 'waiting' }
  | { readonly type: 'hook'; readonly hook: string }
  | { readonly type: 'helm' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: string; readonly failures: number };

/** The progress of the daemon, as derived from its log records. */
export interface Progress {
  /** What goes on apart from modules, in words. */
  readonly phase: string;
  /** Enabled modules in run order. */
  readonly modules: ReadonlyMap<string, ModuleProgress>;
  /** The last lines that each hook printed in its run. */
  readonly printed: ReadonlyMap<string, readonly string[]>;
  /** The last error of each task or hook that failed. */
  readonly errors: ReadonlyMap<string, string>;
  readonly helmVersion: string;
  readonly jqEngine: string;
}

/** So many are shown when the hook has ended. */
const MAX_PRINTED_LINES = 3;

export const NO_PROGRESS: Progress = {
  phase: 'starting',
  modules: new Map(),
  printed: new Map(),
  errors: new Map(),
  helmVersion: '',
  jqEngine: '',
};

/** The progress after an event. */
export function advance(progress: Progress, event: ProgressEvent): Progress {
  switch (event.type) {
    case 'phase':
      return { ...progress, phase: event.text };
    case 'helm-found':
      return { ...progress, helmVersion: event.version, phase: 'loading hooks and modules' };
    case 'jq-chosen':
      return { ...progress, jqEngine: event.engine };
    case 'modules-enabled':
      return {
        ...progress,
        phase: 'running modules',
        modules: new Map(
          event.modules.map((name) => [name, progress.modules.get(name) ?? { type: 'waiting' }]),
        ),
      };
    case 'hook-started':
      return hookStarted(
        { ...progress, printed: withoutKey(progress.printed, hookKey(event.run)) },
        event.run,
      );
    case 'hook-printed':
      return { ...progress, printed: withLine(progress.printed, event) };
    case 'hook-finished':
      return { ...progress, printed: withoutKey(progress.printed, hookKey(event.run)) };
    case 'helm-running':
      return withModule(progress, event.module, { type: 'helm' });
    case 'module-ready':
      return withModule(progress, event.module, { type: 'ready' });
    case 'task-failed': {
      const { module, task, error, failures } = event.failed;
      const failed = { ...progress, errors: withEntry(progress.errors, failedTitle(event.failed), error) };
      if (task === 'ModuleRun') return withModule(failed, module, { type: 'failed', error, failures });
      const phase = `${failedTitle(event.failed)} failed, waiting for its next try`;
      if (!progress.modules.has(module)) return { ...failed, phase };
      return { ...withModule(failed, module, { type: 'failed', error, failures }), phase };
    }
    case 'converged':
      return { ...progress, phase: 'ready' };
    case 'helm-done':
    case 'module-deleted':
    case 'module-disabled':
    case 'files-changed':
    case 'files-used':
    case 'notice':
    case 'page-served':
      return progress;
  }
}

/** What names a task that failed. */
export function failedTitle({ module, hook, task }: FailedTask): string {
  if (hook !== '') return `hook ${hookKey({ module, hook })}`;
  return module === '' ? task : `module ${module}`;
}

/** What names a hook among those of all modules. */
export function hookKey({ module, hook }: Pick<HookRunRef, 'module' | 'hook'>): string {
  return module === '' ? hook : `${module}/${hook}`;
}

function hookStarted(progress: Progress, run: HookRunRef): Progress {
  if (run.module === '') return { ...progress, phase: `global hook ${run.hook} (${run.binding})` };
  // A hook that an event or the clock runs says nothing about how far its module has come.
  if (progress.modules.get(run.module)?.type === 'ready') return progress;
  return withModule(progress, run.module, { type: 'hook', hook: run.hook });
}

function withModule(progress: Progress, name: string, module: ModuleProgress): Progress {
  const phase = progress.phase.startsWith('global hook') ? 'running modules' : progress.phase;
  return { ...progress, phase, modules: withEntry(progress.modules, name, module) };
}

function withLine(
  printed: Progress['printed'],
  { run, line }: Extract<ProgressEvent, { readonly type: 'hook-printed' }>,
): Progress['printed'] {
  const key = hookKey(run);
  return withEntry(printed, key, [...(printed.get(key) ?? []), line].slice(-MAX_PRINTED_LINES));
}

function withoutKey<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}
