import { pathTo } from '../lib/places.ts';
import type { RunView, TaskView } from '../lib/responses.ts';

/** A task or run in a few words, such as `ModuleRun web` or `web/hooks/a.sh (schedule)`; names of global hooks have no module. */
export function titleOf({
  type,
  module,
  hook,
  binding,
}: Pick<TaskView, 'type' | 'module' | 'hook' | 'binding'>): string {
  if (hook !== '') {
    const name = module === '' ? hook : `${module}/${hook}`;
    return binding === '' ? name : `${name} (${binding})`;
  }
  return module === '' ? type : `${type} ${module}`;
}

export function pathToRun({ id }: Pick<RunView, 'id'>): string {
  return pathTo(['runs', id]);
}

export function pathToModule(name: string): string {
  return pathTo(['modules', name]);
}

/** `1 task`, `2 tasks`. */
export function counted(count: number, name: string): string {
  return `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`;
}
