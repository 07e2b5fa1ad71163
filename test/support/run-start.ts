import type { RunStart } from '../../src/journal/run.ts';

/** A first attempt of a module run in `main`, for which nothing else is known. */
export const RUN_START: RunStart = {
  queue: 'main',
  taskId: '',
  type: 'ModuleRun',
  module: 'web',
  hook: '',
  binding: '',
  trigger: '',
  eventId: 'e',
  triggeredBy: undefined,
  attempt: 1,
  queuedMs: 0,
};
