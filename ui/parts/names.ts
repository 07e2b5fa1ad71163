/** Names, titles and links of things, so that all pages show them in the same way. */

import { pathTo } from '../lib/places.ts';
import type { RunView, TaskView } from '../lib/responses.ts';
import { taskName } from '../lib/task-names.ts';

/** Tasks that do something about a hook and do not run it. */
const PREPARATIONS: Readonly<Record<string, string | undefined>> = {
  GlobalHookEnableScheduleBindings: 'schedules begin',
  GlobalHookEnableKubernetesBindings: 'watches begin',
};

/** A task or run in a few words, such as `Run module web` or `web/hooks/a.sh (schedule)`; names of global hooks have no module. */
export function titleOf({
  type,
  module,
  hook,
  binding,
}: Pick<TaskView, 'type' | 'module' | 'hook' | 'binding'>): string {
  if (hook !== '') {
    const name = module === '' ? hook : `${module}/${hook}`;
    const what = binding === '' ? PREPARATIONS[type] : binding;
    return what === undefined ? name : `${name} (${what})`;
  }
  return module === '' ? taskName(type) : `${taskName(type)} ${module}`;
}

/** Bindings that run by themselves; the others run with their module or for requests. */
export const TRIGGERABLE: ReadonlySet<string> = new Set(['onStartup', 'schedule', 'kubernetes']);

/** The page of a run. */
export function pathToRun({ id }: Pick<RunView, 'id'>): string {
  return pathTo(['runs', id]);
}

/** The page of a module. */
export function pathToModule(name: string): string {
  return pathTo(['modules', name]);
}

/** `1 task`, `2 tasks`, `2,000 tasks`. */
export function counted(count: number, name: string): string {
  return `${grouped(count)} ${name}${count === 1 ? '' : 's'}`;
}

/** Not `toLocaleString`: its first call takes longer than to draw a page. */
function grouped(count: number): string {
  if (count < 1_000) return String(count);
  return `${grouped(Math.floor(count / 1_000))},${String(count % 1_000).padStart(3, '0')}`;
}
