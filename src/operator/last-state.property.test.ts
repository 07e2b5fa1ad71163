import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { type HookProcess, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import type { SnapshotItem } from '../hook-config/kubernetes-binding.ts';
import { requestOperation } from '../requests/request-operation.ts';

const HOOK = 'web/a.sh';
const OBJECTS = ['one', 'two', 'three'];
const BINDINGS = {
  must: { queue: 'own' },
  may: { queue: 'own', allowFailure: true },
  main: {},
  lazy: { queue: 'own', executeHookOnSynchronization: false },
  grouped: { queue: 'own', group: 'g' },
  groupedMay: { queue: 'own', group: 'g', allowFailure: true },
} as const;
type BindingName = keyof typeof BINDINGS;
const NAMES = Object.keys(BINDINGS) as BindingName[];

const HOOKS = {
  [HOOK]: {
    kubernetes: NAMES.map((name) => ({ kind: 'Pod', name, ...BINDINGS[name] })),
  },
};

const step = oneof(
  {
    weight: 8,
    arbitrary: record({
      do: constant('put' as const),
      binding: constantFrom(...NAMES),
      object: constantFrom(...OBJECTS),
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      do: constant('delete' as const),
      binding: constantFrom(...NAMES),
      object: constantFrom(...OBJECTS),
    }),
  },
  {
    weight: 6,
    arbitrary: record({
      do: constantFrom(
        'switch' as const,
        'break' as const,
        'mend' as const,
        'wait' as const,
        'restart' as const,
        'abort' as const,
      ),
    }),
  },
);
type Step = typeof step extends Arbitrary<infer T> ? T : never;
const anySteps = array(tuple(step, nat({ max: 4 })), { minLength: 1, maxLength: 30 });
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const anyOptions = record({
  failurePolicy: constantFrom('block' as const, 'isolate' as const),
  maxBacklogBytes: constantFrom(NO_LIMIT, 2_000),
  maxContextBytes: constantFrom(NO_LIMIT, 150),
});

/** The objects as the API server has them, and as the hook was last given them: state by object, by binding. */
class World {
  readonly #lab: OperatorLab;
  readonly truth = new Map<string, Map<string, number>>(NAMES.map((name) => [name, new Map()]));
  readonly seen = new Map<string, Map<string, number>>(NAMES.map((name) => [name, new Map()]));
  isBroken = false;
  #state = 0;

  constructor(lab: OperatorLab) {
    this.#lab = lab;
    lab.behaviours.set(HOOK, (hook) => this.#run(hook));
    // It is not run for what there is when its module starts.
    lab.obstacles.set(`monitor ${HOOK}/lazy`, () => {
      this.seen.set('lazy', new Map(this.truth.get('lazy')));
    });
  }

  put(binding: BindingName, object: string): void {
    const objects = this.#objectsOf(binding);
    const watchEvent = objects.has(object) ? 'Modified' : 'Added';
    this.#state += 1;
    objects.set(object, this.#state);
    this.#publish(binding, watchEvent, object, this.#state);
  }

  delete(binding: BindingName, object: string): void {
    const objects = this.#objectsOf(binding);
    const state = objects.get(object);
    if (state === undefined) return;
    objects.delete(object);
    this.#publish(binding, 'Deleted', object, state);
  }

  #objectsOf(binding: BindingName): Map<string, number> {
    return this.truth.get(binding) ?? new Map();
  }

  #publish(
    binding: BindingName,
    watchEvent: 'Added' | 'Modified' | 'Deleted',
    object: string,
    state: number,
  ): void {
    const item = itemOf(object, state);
    const key = `${HOOK}/${binding}`;
    const items = [...this.#objectsOf(binding)].map(([object, state]) => itemOf(object, state));
    this.#lab.objects.set(key, items);
    const monitor = this.#lab.monitors.get(key);
    if (monitor === undefined || monitor.isStopped) return;
    monitor.items = items;
    monitor.emit({ watchEvent, key: object, item });
  }

  /** A failure that is allowed is the hook's own decision: it has seen what it failed on. */
  #run({ contexts }: HookProcess): void {
    for (const context of contexts) this.#note(context);
    if (this.isBroken) throw new Error('hook is broken');
  }

  #note({ binding, type, ...context }: HookProcess['contexts'][number]): void {
    if (this.isBroken && !mayFail(binding)) return;
    if (type === 'Group') {
      const snapshots = context['snapshots'] as Record<string, readonly SnapshotItem[]>;
      for (const [name, items] of Object.entries(snapshots))
        if (!this.isBroken || mayFail(name)) this.seen.set(name, statesOf(items));
    } else if (type === 'Synchronization') {
      this.seen.set(binding, statesOf(context['objects'] as readonly SnapshotItem[]));
    } else {
      const [[object, state] = ['', 0]] = statesOf([context as SnapshotItem]);
      if (context['watchEvent'] === 'Deleted') this.seen.get(binding)?.delete(object);
      else this.seen.get(binding)?.set(object, state);
    }
  }
}

function mayFail(binding: string): boolean {
  return 'allowFailure' in BINDINGS[binding as BindingName];
}

function itemOf(object: string, state: number): SnapshotItem {
  return { filterResult: { object, state } };
}

function statesOf(items: readonly SnapshotItem[]): Map<string, number> {
  return new Map(
    items.map(({ filterResult }) => {
      const { object, state } = filterResult as { readonly object: string; readonly state: number };
      return [object, state];
    }),
  );
}

async function act(lab: OperatorLab, world: World, what: Step): Promise<void> {
  switch (what.do) {
    case 'put':
      world.put(what.binding, what.object);
      return;
    case 'delete':
      world.delete(what.binding, what.object);
      return;
    case 'switch':
      flap(lab);
      return;
    case 'break':
      world.isBroken = true;
      return;
    case 'mend':
      world.isBroken = false;
      return;
    case 'restart':
      lab.startOver();
      return;
    case 'abort':
      requestOperation(lab.operator, 'web', 'abort');
      return;
    case 'wait':
      await lab.clock.advance(5_000);
  }
}

/** Sets or takes back the flag that disables the module, as a global hook or the ConfigMap does. */
function flap(lab: OperatorLab): void {
  if (lab.flaggedOff.delete('web')) lab.enabled.add('web');
  else {
    lab.flaggedOff.add('web');
    lab.enabled.delete('web');
  }
  lab.startOver();
}

/** The running count of the backlog is that of all events counted anew. */
function expectCounted({ backlog, monitors, operator }: OperatorLab): void {
  const queued = operator.queues.all.flatMap(({ entries }) =>
    entries.flatMap(({ task }) =>
      'reasons' in task
        ? task.reasons.flatMap((reason) => (reason.type === 'event' ? [reason.event] : []))
        : [],
    ),
  );
  const held = [...monitors.values()].flatMap((monitor) => monitor.held);
  const excessBytes = backlog.heldBytes - backlog.bytesOf([...queued, ...held]);
  // A run whose task was removed from its queue holds its events until it ends.
  const isAnyRunning = operator.queues.all.some(({ status }) => status.type === 'running');
  expect(isAnyRunning ? Math.min(0, excessBytes) : excessBytes).toBe(0);
}

test('a hook has the last state of every object, however often its module is disabled and enabled, and with any allowed failures', async () => {
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      await using lab = await operatorLab(['web'], HOOKS, options);
      const world = new World(lab);
      await lab.converge();
      for (const [what, turns] of steps) {
        await act(lab, world, what);
        await lab.turns(turns);
        expectCounted(lab);
      }
      world.isBroken = false;
      if (lab.flaggedOff.has('web')) flap(lab);
      await lab.pass(300_000, 4);
      // What was aborted waits for a change.
      lab.startOver();
      await lab.pass(300_000, 2);
      expect(lab.operator.queues.all.flatMap(({ name }) => lab.tasks(name))).toEqual([]);
      expect(world.seen).toEqual(world.truth);
      expect(lab.backlog.heldBytes).toBe(0);
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  );
}, 120_000);
