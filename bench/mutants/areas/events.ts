import type { MutatedFile } from '../mutant.ts';

/** Events of bindings, and crontabs. */
export const EVENTS: readonly MutatedFile[] = [
  {
    file: 'src/events/kubernetes/event-gate.ts',
    mutants: [
      {
        find: 'if (this.#isClosed || (this.#options.isReadFirst && !this.#isRead)) return;',
        replace: 'if (this.#isClosed) return;',
        breaks: 'A hook gets events that its Synchronization contains.',
      },
      {
        find: '    this.#held.push(event);\n',
        replace: '',
        breaks: 'Events before the gate opens are lost.',
      },
      {
        find: '    this.#options.backlog?.relieve();\n',
        replace: '',
        breaks: 'Held events are not bounded.',
      },
      {
        find: '    this.#hold([]);\n    this.#isRead = true;',
        replace: '    this.#isRead = true;',
        breaks: 'A snapshot does not make older events superfluous.',
      },
      {
        find: '[...missed, ...this.held]',
        replace: 'this.held',
        breaks: 'Events that reached no hook are lost when the gate is shut.',
      },
      {
        find: '[...missed, ...this.held]',
        replace: '[...this.held, ...missed]',
        breaks: 'Missed events come after newer ones.',
      },
      {
        find: '    this.#isRead = false;\n',
        replace: '',
        breaks: 'A gate that is shut again holds events before its snapshot.',
      },
      {
        find: 'for (const event of held) this.#options.emit(event);',
        replace: '',
        breaks: 'Held events are lost when the gate opens.',
      },
      { find: '    this.#hold(undefined);\n', replace: '', breaks: 'An open gate goes on holding events.' },
      {
        find: '    this.#options.backlog?.release(this.#holder);\n',
        replace: '',
        breaks: 'Gates of stopped bindings are kept.',
      },
    ],
  },
  {
    file: 'src/events/kubernetes/selection-sink.ts',
    tests: [
      'src/events/kubernetes/monitor.test.ts',
      'src/events/kubernetes/monitor.property.test.ts',
      'src/events/kubernetes/failing-filters.test.ts',
    ],
    mutants: [
      { find: '    store.delete(key);\n', replace: '', breaks: 'A deleted object stays in snapshots.' },
      {
        find: 'else if (!isSameState(before, after)) emit',
        replace: 'else if (isSameState(before, after)) emit',
        breaks: 'Changes are not reported.',
      },
      {
        find: 'if (!isAnnounced) return;',
        replace: 'return;',
        breaks: 'Objects of a new namespace are not reported.',
      },
      {
        find: 'event.object ?? dirty?.object',
        replace: 'event.object',
        breaks: 'A deletion shows a hook an old state.',
      },
      {
        find: 'const dirty = unfiltered.take(event.key);',
        replace:
          'const dirty: undefined | { object: KubeObject; failure: FilterFailure } = undefined as never;',
        breaks: 'An object is filtered again in a state that is over.',
      },
      {
        find: '    this.#options.unfiltered.retryAll();\n',
        replace: '',
        breaks: 'Filters that failed are not tried again after a list.',
      },
      {
        find: 'if (!isCurrent()) return;',
        replace: '',
        breaks: 'A retry brings an older state of an object back.',
      },
      {
        find: '  discard(): void {\n    this.#staged = [];',
        replace: '  discard(): void {',
        breaks: 'Objects of an expired list are in snapshots.',
      },
    ],
  },
  {
    file: 'src/events/kubernetes/object-store.ts',
    tests: ['src/events/kubernetes/monitor.test.ts', 'src/events/kubernetes/monitor.property.test.ts'],
    mutants: [
      {
        find: '  delete(key: string): void {\n    this.#objects.delete(key);\n    this.#sorted = undefined;',
        replace: '  delete(key: string): void {\n    this.#objects.delete(key);',
        breaks: 'A snapshot contains deleted objects.',
      },
      {
        find: '    this.#objects.set(key, stored);\n    this.#sorted = undefined;',
        replace: '    this.#objects.set(key, stored);',
        breaks: 'A snapshot misses new objects.',
      },
      {
        find: "if (!('filterResult' in before.item)) return before.version === after.version;",
        replace: '',
        breaks: 'Changes of bindings without a filter are lost.',
      },
      {
        find: 'canonicalJson(before.item.filterResult) === canonicalJson(after.item.filterResult)',
        replace: 'before.version === after.version',
        breaks: 'A hook runs for changes that its filter hides.',
      },
      {
        find: 'for (const stored of taken) this.delete(nameOf(stored));',
        replace: '',
        breaks: 'Objects of a namespace that does not match any more stay.',
      },
    ],
  },
  {
    file: 'src/hooks/event-backlog.ts',
    tests: ['src/queues/queued-events.test.ts'],
    mutants: [
      {
        find: 'if (keys.has(waiting.event.key)) superseded.push',
        replace: 'if (!keys.has(waiting.event.key)) superseded.push',
        breaks: 'The last state of an object is dropped.',
      },
      {
        find: 'a.facts.number - b.facts.number',
        replace: 'b.facts.number - a.facts.number',
        breaks: 'The newest states are dropped first.',
      },
      { find: 'newer.get(waiting.binding) ?? new', replace: 'new', breaks: 'Older states are never found.' },
      {
        find: 'if (this.#isReported) return;',
        replace: '',
        breaks: 'The limit is reported with each event.',
      },
      {
        find: 'this.#heldBytes < this.#options.limitBytes / 2) this.#isReported = false;',
        replace: 'this.#heldBytes < 0) this.#isReported = false;',
        breaks: 'The limit is reported once only.',
      },
      { find: 'if (bytes >= wantedBytes) break;', replace: '', breaks: 'All older states are dropped.' },
      { find: '    this.#heldBytes += bytes;\n', replace: '', breaks: 'Waiting events are not counted.' },
      { find: '    this.#holders.delete(holder);\n', replace: '', breaks: 'Holders that are gone are kept.' },
      {
        find: 'return group === undefined ? event : { ...event, item: {} };',
        replace: 'return event;',
        breaks: 'Events of groups keep their objects.',
      },
    ],
  },
  {
    file: 'src/queues/queued-events.ts',
    mutants: [
      {
        find: '.filter((entry) => !queue.isRunning(entry))',
        replace: '',
        breaks: 'Events of a run in progress are dropped.',
      },
      {
        find: 'return reasons.length === 0 ? undefined : { ...task, reasons };',
        replace: 'return { ...task, reasons };',
        breaks: 'Tasks without events stay queued.',
      },
      {
        find: "reason.type !== 'event' || !events.has(reason.event)",
        replace: "reason.type !== 'event' && !events.has(reason as never)",
        breaks: 'Events are dropped that should stay.',
      },
    ],
  },
  {
    file: 'packages/crontab/src/schedule-manager.ts',
    mutants: [
      {
        find: 'const TOLERATED_STEP_BACK_MS = 60_000;',
        replace: 'const TOLERATED_STEP_BACK_MS = 0;',
        breaks: 'A clock that is set back by seconds repeats ticks.',
      },
      {
        find: 'if (nowMs < this.#lastMs - TOLERATED_STEP_BACK_MS) this.#planAnew(nowMs);',
        replace: '',
        breaks: 'A clock that is set back silences crontabs.',
      },
      {
        find: 'const MAX_SLEEP_MS = 60_000;',
        replace: 'const MAX_SLEEP_MS = 86_400_000;',
        breaks: 'A clock that is set is noticed after a day.',
      },
      {
        find: '      this.#wake();\n',
        replace: '',
        breaks: 'A new crontab waits for the next tick of another.',
      },
      {
        find: 'if (count > 1) entry.ids.set(id, count - 1);\n    else ',
        replace: '',
        breaks: 'A crontab that is still used is removed.',
      },
      {
        find: 'if (entry.ids.size === 0) this.#entries.delete(crontab);',
        replace: '',
        breaks: 'A crontab without users fires.',
      },
      {
        find: 'if (this.#entries.get(entry.crontab) === entry) this.#fire(entry, onFire);',
        replace: 'this.#fire(entry, onFire);',
        breaks: 'A crontab that is removed by another one fires.',
      },
      {
        find: '    this.#deps.onMissed?.(crontab, misses);\n',
        replace: '',
        breaks: 'Missed ticks are not counted.',
      },
      {
        find: 'a.crontab < b.crontab ? -1 : 1',
        replace: 'a.crontab < b.crontab ? 1 : -1',
        breaks: 'Crontabs of one time fire in another order.',
      },
      {
        find: 'misses < MAX_COUNTED_MISSES ? nextMs : schedule.next(nowMs)',
        replace: 'nextMs',
        breaks: 'A long sleep makes crontabs fire many times.',
      },
    ],
  },
];
