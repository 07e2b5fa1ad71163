import type { MutatedFile } from '../mutant.ts';

/** Runs of hooks for events, those that wait and those that are retried. */
export const HOOK_RUNS: readonly MutatedFile[] = [
  {
    file: 'src/hooks/coalesce-events.ts',
    mutants: [
      {
        find: "return mayBeKnown ? 'newer' : 'none';",
        replace: "return 'none';",
        breaks: 'A deletion is dropped although a failed run was given the object.',
      },
      {
        find: "if (reason.type === 'synchronization') places.delete(reason.binding);",
        replace: '',
        breaks: 'Events after a Synchronization are coalesced with those before it.',
      },
      {
        find: "watchEvent: 'Added' } } };",
        replace: "watchEvent: 'Modified' } } };",
        breaks: 'A hook gets Modified for an object that it does not know.',
      },
      {
        find: "    case 'Deleted Added':\n",
        replace: "    case 'Deleted Added':\n      return 'newer';\n",
        breaks: 'The deletion of an object whose name is used again is dropped.',
      },
      {
        find: "|| reason.binding.coalesce !== 'object') {",
        replace: ') {',
        breaks: 'Events are coalesced for bindings that do not request it.',
      },
    ],
  },
  {
    file: 'src/hook-runs/hook-run.ts',
    tests: ['src/operator/last-state.property.test.ts'],
    mutants: [
      {
        find: 'other.hook !== first.hook || ',
        replace: '',
        breaks: 'Events of one hook are given to another.',
      },
      {
        find: '|| next.allowFailure !== previous.allowFailure) return false;',
        replace: ') return false;',
        breaks: 'A failure that is allowed drops events whose failure is not.',
      },
      {
        find: '  queue.replaceTask(entry, task);\n  return task;',
        replace: '  return task;',
        breaks: 'Combined events are lost when the run fails.',
      },
      {
        find: 'const next = { ...task, reasons, attempted: reasons.length };',
        replace: 'const next = { ...task, reasons };',
        breaks: 'It is forgotten what a failed run was given.',
      },
      {
        find: 'rest: { ...unattempted, reasons: reasons.slice(covered) },',
        replace: 'rest: undefined,',
        breaks: 'Events that did not fit into a run are lost.',
      },
    ],
  },
  {
    file: 'src/model/requeues.ts',
    mutants: [
      {
        find: 'FIRST_PAUSE_MS * 2 ** (inRow - 1)',
        replace: 'FIRST_PAUSE_MS',
        breaks: 'A hook that requests reconciles again and again keeps the operator busy.',
      },
      {
        find: 'const pauseMs = inRow === 0 ? 0 : Math.min(MAX_PAUSE_MS, ',
        replace: 'const pauseMs = inRow === 0 ? 0 : Math.max(0, ',
        breaks: 'Pauses between requested reconciles grow without limit.',
      },
      {
        find: '    this.#waiting.get(module)?.cancel.abort();\n    const cancel',
        replace: '    const cancel',
        breaks: 'A replaced request is done as well.',
      },
      {
        find: '    this.#waiting.get(module)?.cancel.abort();\n    this.#waiting.delete(module);',
        replace: '    this.#waiting.delete(module);',
        breaks: 'A module that is not reconciled any more is reconciled.',
      },
      {
        find: '    this.#waiting.delete(module);\n    this.#deps.onDue(module);',
        replace: '    this.#deps.onDue(module);',
        breaks: 'A request that was done is shown as due.',
      },
      {
        find: 'if (afterMs === undefined) {\n      this.#atOnceInRow.delete(module);',
        replace: 'if (afterMs === undefined) {',
        breaks: 'A module that requested nothing in between still waits.',
      },
    ],
  },
  {
    file: 'src/hook-runs/retry-budgets.ts',
    tests: ['src/queues/held-runs.test.ts'],
    mutants: [
      {
        find: 'count > max)',
        replace: 'count >= max)',
        breaks: 'A hook gets one retry less than its limit.',
      },
      {
        find: 'nowMs - sinceMs < withinMs',
        replace: 'nowMs - sinceMs <= withinMs',
        breaks: 'A hook is retried at the end of its time.',
      },
      {
        find: '|| (run.allowFailure && !isNotYet(error))) return error;',
        replace: ') return error;',
        breaks: 'Failures that are allowed use up retries.',
      },
      { find: '    else known.delete(key);\n', replace: '', breaks: 'The retries of a hook stay used up.' },
      {
        find: "!== 'drop') return false;",
        replace: "=== 'drop') return false;",
        breaks: 'A run is dropped whose retries should end in a stall.',
      },
      {
        find: 'run.hook.hook.config.settings.retry !== undefined) this.#of(run.hook).delete(keyOf(run, queue));',
        replace:
          'run.hook.hook.config.settings.retry === undefined) this.#of(run.hook).delete(keyOf(run, queue));',
        breaks: 'Failures of long ago count against a hook.',
      },
    ],
  },
  {
    file: 'src/queues/held-runs.ts',
    tests: ['src/queues/debounce.property.test.ts'],
    mutants: [
      {
        find: 'held.dueMs = Math.min(held.sinceMs + maxMs, nowMs + afterMs);',
        replace: 'held.dueMs = nowMs + afterMs;',
        breaks: 'Events that never pause are held back for ever.',
      },
      {
        find: 'tasks: [...tasks, ...(waiting?.tasks ?? [])],',
        replace: 'tasks: [...tasks],',
        breaks: 'Events that wait are lost when a run is put off again.',
      },
      {
        find: 'if (waiting !== undefined) this.#remove(waiting);',
        replace: '',
        breaks: 'Runs of a hook wait twice.',
      },
      {
        find: 'held.tasks.push(task);\n    this.#count([], [task]);\n    return true;',
        replace: 'held.tasks.push(task);\n    return true;',
        breaks: 'Events that join others are not counted.',
      },
      {
        find: 'if (!this.join(task)) this.#deps.release(task);',
        replace: 'this.#deps.release(task);',
        breaks: 'Held events overtake a run that is not done yet.',
      },
      { find: 'held.end.abort();\n', replace: '', breaks: 'What is taken out is released as well.' },
      {
        find: 'held.dueMs > clock.steadyMs()',
        replace: 'held.dueMs < 0',
        breaks: 'Later events do not move the time of debounced ones.',
      },
      {
        find: 'if (left.length === 0) this.#remove(held);',
        replace: '',
        breaks: 'Held runs without events stay.',
      },
    ],
  },
];
