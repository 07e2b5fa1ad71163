import type { MutatedFile } from '../mutant.ts';

/** Order and retries of tasks, and locks. */
export const QUEUES: readonly MutatedFile[] = [
  {
    file: 'packages/task-queue/src/task-queue.ts',
    mutants: [
      {
        find: '        await this.#delay(delayMs, signal);\n        return;',
        replace: '        return;',
        breaks: 'A failed task is retried without a pause.',
      },
      {
        find: 'const delayMs = outcome.delayMs ?? retryDelayMs',
        replace: 'const delayMs = retryDelayMs',
        breaks: 'The delay that a failure requests is not used.',
      },
      {
        find: 'retryDelayMs(entry.failures, this.#random);\n        entry.failures += 1;',
        replace: 'retryDelayMs(0, this.#random);\n        entry.failures += 1;',
        breaks: 'The delay after failures does not grow.',
      },
      {
        find: 'this.#replace(entry, outcome.after ?? []);',
        replace: 'this.#replace(entry, []);',
        breaks: 'Follow-up tasks are lost.',
      },
      {
        find: 'this.#addLast(outcome.tail ?? [], entry.task);',
        replace: '',
        breaks: 'Tasks for the end of the queue are lost.',
      },
      {
        find: 'this.#addFirst(outcome.before ?? [], entry.task);',
        replace: 'this.#addLast(outcome.before ?? [], entry.task);',
        breaks: 'Tasks that have to come before a repeated task come after it.',
      },
      {
        find: 'if (outcome.before !== undefined) entry.isFailing = false;',
        replace: '',
        breaks: 'A task that failed once is shown as failing although its attempt got further.',
      },
      {
        find: '} else if (entry === this.#running) this.#endDelay();\n      return task !== undefined;',
        replace: '}\n      return task !== undefined;',
        breaks: 'A task that is rewritten to nothing goes on waiting for its retry.',
      },
      {
        find: 'if (this.#running !== undefined && removed.includes(this.#running)) this.#endDelay();',
        replace: '',
        breaks: 'A removed task goes on waiting for its retry, and all others with it.',
      },
      {
        find: 'if (this.isRunning(entry)) return true;\n      const task = next',
        replace: 'const task = next',
        breaks: 'A task is rewritten while its handler runs.',
      },
      {
        find: "    this.#measure('AddFirst', () => this.#entries.unshift(...entries));\n    this.#reportAdded('head', entries);\n    this.#wakeUp();",
        replace:
          "    this.#measure('AddFirst', () => this.#entries.unshift(...entries));\n    this.#reportAdded('head', entries);",
        breaks: 'A task at the head does not wake the worker.',
      },
      {
        find: "    this.#reportAdded('append', entries);\n    this.#wakeUp();",
        replace: "    this.#reportAdded('append', entries);",
        breaks: 'A task at the end does not wake the worker.',
      },
      {
        find: 'const earlier = entry.earlierFailure;',
        replace: 'const earlier = undefined;',
        breaks: 'The delay of a failure in another queue is not waited for.',
      },
      {
        find: '    delete entry.earlierFailure;\n',
        replace: '',
        breaks: 'The delay of a failure in another queue is waited for before each attempt.',
      },
      {
        find: 'if (!this.#entries.includes(entry)) this.#onChange([entry.task], []);\n    else if',
        replace: 'if',
        breaks: 'The outcome of a removed task is settled.',
      },
      {
        find: ' && belongs(next.task); next',
        replace: '; next',
        breaks: 'A task takes followers of other kinds into its run.',
      },
      {
        find: 'while (!settled.signal.aborted && !signal.aborted && this.#entries[0] === entry)',
        replace: 'while (!settled.signal.aborted && !signal.aborted)',
        breaks: 'A task at the head waits for the wait of a repeated one.',
      },
      {
        find: 'when.then(onSettled, onSettled);',
        replace: 'when.then(onSettled, () => undefined);',
        breaks: 'A repeated task waits for ever when its promise is rejected.',
      },
      {
        find: '.filter((entry) => !this.isRunning(entry))',
        replace: '.filter((entry) => this.isRunning(entry))',
        breaks: 'Removed tasks are not reported as gone.',
      },
      {
        find: 'else await this.#attemptHead(head, handle, { stop, abort }).catch((error) => this.#rest(error, stop));',
        replace: 'else await this.#attemptHead(head, handle, { stop, abort });',
        breaks: 'An unexpected error ends the worker of a queue.',
      },
      {
        find: 'await this.#delay(retryDelayMs(0, this.#random), signal);',
        replace: '',
        breaks: 'After an unexpected error the worker spins.',
      },
      {
        find: 'if (this.#clock.steadyMs() - turnMs < TURN_MS) continue;',
        replace: 'if (turnMs >= 0) continue;',
        breaks: 'Tasks that wait for nothing block the event loop.',
      },
      {
        find: 'await this.#attempt(first, handleInPlace, signals);',
        replace: 'await this.#attempt(first, handle, signals);',
        breaks: 'A key keeps its place during the delay after a failure.',
      },
      {
        find: 'if (this.lane === undefined || head.earlierFailure !== undefined)',
        replace: 'if (this.lane === undefined)',
        breaks: 'The delay of an earlier failure takes a place.',
      },
    ],
  },
  {
    file: 'packages/task-queue/src/lanes.ts',
    tests: ['packages/task-queue/src/lanes.test.ts'],
    mutants: [
      {
        find: '    group.places.limit = parallel;\n    group.count += 1;',
        replace: '    group.count += 1;',
        breaks: 'A limit that a new key brings has no effect.',
      },
      {
        find: 'if (group !== undefined) group.places.limit = parallel;',
        replace: '',
        breaks: 'A changed limit of keys has no effect.',
      },
      {
        find: 'for (const { places } of this.#groups.values()) places.close();',
        replace: '',
        breaks: 'Keys that wait for a place do not stop.',
      },
      {
        find: '          return await handle(...given);\n        } finally {\n          release();',
        replace: '          return await handle(...given);\n        } finally {',
        breaks: 'A place is kept until the end of the attempt.',
      },
    ],
  },
  {
    file: 'packages/task-queue/src/places.ts',
    tests: [
      'packages/task-queue/src/keyed-queues.property.test.ts',
      'src/queues/keyed-queues.property.test.ts',
    ],
    mutants: [
      { find: 'if (!isHeld) return;', replace: '', breaks: 'A place that is given back twice counts twice.' },
      {
        find: 'this.#limit = limit;\n    this.#giveFree();',
        replace: 'this.#limit = limit;',
        breaks: 'A larger limit takes effect late.',
      },
      {
        find: 'for (const end of this.#waiting) end(false);',
        replace: '',
        breaks: 'Queues that wait for a place do not stop.',
      },
      {
        find: 'if (this.#taken >= this.#limit) return;',
        replace: 'if (this.#taken > this.#limit) return;',
        breaks: 'One key more than allowed runs at a time.',
      },
    ],
  },
  {
    file: 'packages/task-queue/src/queue-set.ts',
    tests: [
      'packages/task-queue/src/keyed-queues.property.test.ts',
      'src/queues/keyed-queues.property.test.ts',
    ],
    mutants: [
      {
        find: 'if (known !== undefined) {',
        replace: 'if (known === null) {',
        breaks: 'A key gets a second queue while it has one.',
      },
      {
        find: '      this.#queues.delete(name);\n',
        replace: '',
        breaks: 'Queues of keys are kept for ever.',
      },
      {
        find: 'this.#lanes.setLimit(queue, parallel);',
        replace: '',
        breaks: 'A changed limit of keys has no effect while a key has tasks.',
      },
      {
        find: 'for (const queue of this.#queues.values()) this.#work(queue);',
        replace: '',
        breaks: 'Queues that exist before the start are not worked on.',
      },
      {
        find: 'await Promise.all(this.#workers);',
        replace: '',
        breaks: 'The end of running tasks is not waited for.',
      },
    ],
  },
  {
    file: 'packages/concurrency/src/backoff.ts',
    tests: ['packages/task-queue/src/task-queue.test.ts'],
    mutants: [
      {
        find: 'const INITIAL_DELAY_MS = 5_000;',
        replace: 'const INITIAL_DELAY_MS = 500;',
        breaks: 'Failed tasks are retried ten times as often.',
      },
      {
        find: '2 ** (previousFailures - 1)',
        replace: '2 ** previousFailures',
        breaks: 'Delays grow faster than documented.',
      },
      {
        find: '+ jitterMs',
        replace: '',
        breaks: 'Failed tasks of many replicas come back at the same moment.',
      },
    ],
  },
  {
    file: 'src/queues/compact-queue.ts',
    tests: ['src/operator/last-state.property.test.ts'],
    mutants: [
      {
        find: 'crowd[entry.task.allowFailure ? 1 : 0]',
        replace: 'crowd[0]',
        breaks: 'Runs whose failure is allowed are combined with others, whose events they lose.',
      },
      {
        find: 'const isAttempted = tasks.some(({ attempted = 0 }) => attempted > 0);',
        replace: 'const isAttempted = false;',
        breaks: 'A deletion is dropped although a failed run was given the object.',
      },
      {
        find: '|| queue.isAtWork(entry)) continue;',
        replace: ') continue;',
        breaks: 'The run that is being retried is combined with newer ones.',
      },
      {
        find: 'queue.length % STEP !== 1',
        replace: 'queue.length % STEP !== 2',
        breaks: 'A long queue is combined late.',
      },
      {
        find: 'return isIndependent(task.reasons);',
        replace: 'return true;',
        breaks: 'Synchronizations are combined with events.',
      },
      {
        find: 'return [...ungrouped, ...groups.values()];',
        replace: 'return ungrouped;',
        breaks: 'Events of groups are lost when runs are combined.',
      },
    ],
  },
  {
    file: 'packages/concurrency/src/bounded-work.ts',
    mutants: [
      {
        find: "  queue.addEventListener('error', () => queue.clear());\n",
        replace: '',
        breaks: 'After a failure all other calls are made.',
      },
      {
        find: '{ signal: waiting.signal }',
        replace: '{ signal }',
        breaks: 'An act that is aborted loses its place before it has ended.',
      },
      {
        find: '    started();\n',
        replace: '',
        breaks: 'An abort takes the place of an act that has begun.',
      },
    ],
  },
  {
    file: 'packages/concurrency/src/keyed-lock.ts',
    mutants: [
      { find: '      await before;\n', replace: '', breaks: 'Two callers hold one lock.' },
      {
        find: 'if (this.#tails.get(key) === tail) this.#tails.delete(key);',
        replace: 'this.#tails.delete(key);',
        breaks: 'A third caller does not wait for the second.',
      },
      { find: '      release();\n', replace: '', breaks: 'A lock is never released.' },
      { find: '      signal.throwIfAborted();\n', replace: '', breaks: 'An act is started after its abort.' },
    ],
  },
];
