import type { BlockingTask, LongHook } from '../../src/status/module-causes.ts';
import type { ModuleExplanation, ModuleSummary } from '../../src/status/module-explanation.ts';

/** The module `web`, which is ready and has nothing in its way; it was not run yet. */
export const READY_MODULE: Omit<ModuleExplanation, 'release'> = {
  module: 'web',
  status: 'ready',
  since: '2026-01-01T00:00:00.000Z',
  isEnabled: true,
  source: 'config-map',
  reason: 'webEnabled in the ConfigMap is true',
  position: { place: 1, of: 1, order: 1 },
  path: '/modules/001-web',
  version: '1.2.3',
  deletionPolicy: 'delete',
  requires: [],
  phase: 'Succeeded',
  step: 'ready',
  waitsFor: [],
  causes: [],
  failure: null,
  lastRun: null,
  nextReconcileAt: null,
  pause: null,
  drift: null,
};

/** The line of a module that is ready, in lists. */
export function readySummary(module: string, fields: Partial<ModuleSummary> = {}): ModuleSummary {
  return {
    module,
    status: 'ready',
    since: '2026-01-01T00:00:00.000Z',
    isEnabled: true,
    source: 'config-map',
    reason: `${module}Enabled in the ConfigMap is true`,
    version: null,
    revision: null,
    waitsFor: [],
    lastError: null,
    nextTryAt: null,
    paused: null,
    ...fields,
  };
}

/** When what fails is tried again. */
export const NEXT_ATTEMPT = '2026-01-01T00:00:05.000Z';

export const HOOK_FAILURE = {
  error: 'no disk',
  code: 'HOOK_FAILED',
  attempts: 2,
  nextAttemptAt: NEXT_ATTEMPT,
  isGivenUp: false,
} as const;

/** A pause of the module until it is resumed. */
export const PAUSE = { reason: 'disks', since: '', until: null, isOfAll: false };

/** A task at the head of `main` that fails. */
export const BLOCKING_TASK: BlockingTask = {
  queue: 'main',
  task: 'GlobalHookRun a.sh',
  error: 'no network',
  file: '/global-hooks/a.sh',
  nextAttemptAt: NEXT_ATTEMPT,
  hook: null,
};

/** A hook of the module that runs for longer than it should. */
export const LONG_HOOK: LongHook = {
  hook: 'web/hooks/hang.sh',
  binding: 'beforeHelm',
  queue: 'main',
  task: 'ModuleRun',
  pid: 4711,
  since: '2026-01-01T00:00:00.000Z',
  isStuck: false,
};
