import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { keyOf } from '@addon-operator/kube-client/reflector-sink';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { MonitorLab } from '../../../test/support/monitor-lab.ts';
import type { KubernetesEvent, SnapshotItem } from '../../hook-config/kubernetes-binding.ts';
import type { Monitor } from './monitor.ts';

const OBJECTS = ['a/1', 'a/2', 'b/1', 'b/2'];
const NAMESPACES = ['/a', '/b'];
const BINDINGS = [
  {},
  { jqFilter: '.data.x' },
  { namespace: { labelSelector: { matchLabels: { watch: 'yes' } } } },
  { namespace: { labelSelector: { matchLabels: { watch: 'yes' } } }, jqFilter: '.data.x' },
] as const;

/** Faults, and their ends. */
const FAULTS = [
  'hide',
  'show',
  'no-discovery',
  'forbid',
  'allow',
  'drop-version',
  'drop-kind',
  'restore',
  'filters-fail',
  'filters-time-out',
  'filters-work',
] as const;
const MOVES = ['break', 'expire', 'snapshot', 'turn', 'wait', 'join', 'leave'] as const;

type Step =
  | { readonly type: 'put'; readonly key: string; readonly x: number; readonly isBad?: boolean }
  | { readonly type: 'delete'; readonly key: string }
  | { readonly type: 'label'; readonly namespace: string; readonly watch: string }
  | { readonly type: (typeof MOVES)[number] | (typeof FAULTS)[number] };

const key = fc.constantFrom(...OBJECTS);
const put = fc.record({ type: fc.constant('put' as const), key, x: fc.nat(2) });
const remove = fc.record({ type: fc.constant('delete' as const), key });
const label = fc.record({
  type: fc.constant('label' as const),
  namespace: fc.constantFrom(...NAMESPACES),
  watch: fc.constantFrom('yes', 'no'),
});
/** Events that can happen before a start: the filter may fail on an object then, or on all of them. */
const early: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: put },
  { weight: 3, arbitrary: remove },
  { weight: 2, arbitrary: label },
  {
    weight: 2,
    arbitrary: put.map((one): Step => ({ ...one, isBad: true })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('filters-fail' as const, 'filters-work' as const) }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 13, arbitrary: early },
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom(...MOVES) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constantFrom(...FAULTS) }) },
);

/** How often the objects of a binding have gone: deleted, or with a namespace that is no longer selected. */
class Departures {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  note(keys: readonly string[]): void {
    for (const key of keys) this.#counts.set(key, this.of(key) + 1);
  }
}

/** The objects that a hook knows when it applies every event to its snapshot. */
class HookView {
  readonly problems: string[] = [];
  readonly #departures: Departures;
  readonly #deletions = new Departures();
  #known = new Map<string, unknown>();

  constructor(departures: Departures) {
    this.#departures = departures;
  }

  remember(snapshot: readonly SnapshotItem[]): void {
    this.#known = new Map(snapshot.map((item) => [titleOf(item), stateOf(item)]));
  }

  apply({ watchEvent, item }: KubernetesEvent): void {
    const title = titleOf(item);
    const isKnown = this.#known.has(title);
    if (isKnown === (watchEvent === 'Added')) this.problems.push(`${watchEvent} out of turn for ${title}`);
    if (watchEvent === 'Deleted') this.#noteDeletion(title);
    if (watchEvent === 'Deleted') this.#known.delete(title);
    else this.#known.set(title, stateOf(item));
  }

  /** An outage deletes nothing. */
  #noteDeletion(title: string): void {
    this.#deletions.note([title]);
    if (this.#deletions.of(title) > this.#departures.of(title))
      this.problems.push(`${title} was Deleted, but it exists`);
  }

  get known(): ReadonlyMap<string, unknown> {
    return this.#known;
  }
}

function titleOf({ object }: SnapshotItem): string {
  return object === undefined ? '' : keyOf(object);
}

/** With a filter only its result is promised, without one the whole object. */
function stateOf(item: SnapshotItem): unknown {
  return 'filterResult' in item ? item.filterResult : item.object?.metadata.resourceVersion;
}

function play(lab: MonitorLab, one: Step): void {
  const { api } = lab;
  switch (one.type) {
    case 'put':
      if (api.isServed('configmaps'))
        api.put(one.key, { data: { x: one.x, ...(one.isBad && { bad: true }) } });
      break;
    case 'delete':
      api.delete(one.key);
      break;
    case 'label':
      api.put(one.namespace, { labels: { watch: one.watch } }, 'namespaces');
      break;
    case 'break':
      api.breakWatches();
      break;
    case 'expire':
      api.breakWatches();
      api.compact();
      break;
    case 'hide':
    case 'show':
      api.isHidden = one.type === 'hide';
      api.isUndiscoverable = false;
      break;
    case 'no-discovery':
      api.isUndiscoverable = true;
      break;
    case 'forbid':
    case 'allow':
      api.isForbidden = one.type === 'forbid';
      break;
    case 'drop-version':
      api.serve('configmaps', ['v2']);
      break;
    case 'drop-kind':
      api.removeKind('configmaps');
      break;
    case 'restore':
      api.serve('configmaps', ['v2', 'v1']);
      break;
    case 'filters-fail':
      lab.filterMode = 'failing';
      break;
    case 'filters-time-out':
      lab.filterMode = 'timing-out';
      break;
    case 'filters-work':
      lab.filterMode = 'strict';
      break;
    case 'snapshot':
    case 'turn':
    case 'wait':
    case 'join':
    case 'leave':
      break;
  }
}

/** Other monitors of the same objects, which share the watches of the one that is looked at and come and go. */
class Neighbours {
  readonly #lab: MonitorLab;
  readonly #binding: (typeof BINDINGS)[number];
  #present: readonly Monitor[] = [];

  constructor(lab: MonitorLab, binding: (typeof BINDINGS)[number]) {
    this.#lab = lab;
    this.#binding = binding;
  }

  join(): void {
    const monitor = this.#lab.monitor(this.#binding, { onEvent: () => undefined });
    this.#present = [...this.#present, monitor];
    // It cannot start during a fault, which does not affect the others.
    monitor.start(this.#lab.stop.signal).catch(() => undefined);
  }

  async leave(): Promise<void> {
    const [first, ...others] = this.#present;
    this.#present = others;
    await first?.stop();
  }

  async leaveAll(): Promise<void> {
    await Promise.all(this.#present.map((monitor) => monitor.stop()));
  }
}

/** The objects of the server that a binding selects. */
function selected({ api }: MonitorLab, binding: (typeof BINDINGS)[number]): ReadonlyMap<string, KubeObject> {
  const namespaces = api.truth('namespaces');
  const isWatched = (key: string): boolean =>
    !('namespace' in binding) ||
    namespaces.get(`/${key.split('/')[0]}`)?.metadata.labels?.['watch'] === 'yes';
  return new Map([...api.truth()].filter(([key]) => isWatched(key)));
}

/** Everything works again, also on objects that filters failed on; time passes until nothing is pending. */
async function heal(lab: MonitorLab, versions: Step): Promise<void> {
  for (const type of ['show', 'allow'] as const) play(lab, { type });
  play(lab, versions);
  lab.filterMode = 'lenient';
  for (let round = 0; round < 8; round += 1) await lab.clock.advance(10_000);
  // The longest pause before a filter is retried.
  await lab.clock.advance(300_000);
}

test('P2, FAULT-A15, FAULT-A17, FAULT-A21, FAULT-A22, FAULT-A23, FAULT-J14: the last snapshot before unlock() plus all events is what the server has', async () => {
  const script = fc.array(step, { maxLength: 25 });
  const before = fc.array(early, { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...BINDINGS),
      before,
      script,
      script,
      fc.constantFrom('v1', 'v2'),
      async (binding, before, locked, live, version) => {
        const lab = new MonitorLab();
        for (const namespace of NAMESPACES) play(lab, { type: 'label', namespace, watch: 'yes' });
        for (const one of before) play(lab, one);
        const departures = new Departures();
        const neighbours = new Neighbours(lab, binding);
        const view = new HookView(departures);
        const monitor = await lab.started(binding, { onEvent: (event) => view.apply(event) });
        const run = async (one: Step): Promise<void> => {
          const present = selected(lab, binding);
          play(lab, one);
          const left = selected(lab, binding);
          departures.note([...present.keys()].filter((key) => !left.has(key)));
          // A binding that has yet to hear of the end of a namespace may see the object, and then sees it go.
          if (one.type === 'put' && !left.has(one.key)) departures.note([one.key]);
          if (one.type === 'join') neighbours.join();
          if (one.type === 'leave') await neighbours.leave();
          if (one.type === 'turn') await settle();
          if (one.type === 'wait') await lab.clock.advance(5_000);
        };
        view.remember(monitor.snapshot());
        for (const one of locked) {
          await run(one);
          if (one.type === 'snapshot') view.remember(monitor.snapshot());
        }
        monitor.unlock();
        for (const one of live) await run(one);
        await heal(lab, { type: version === 'v1' ? 'restore' : 'drop-version' });

        const truth = [...selected(lab, binding)];
        const expected = truth.map(([key, object]) => {
          const data = object['data'] as { readonly x: number };
          return [key, 'jqFilter' in binding ? data.x : object.metadata.resourceVersion];
        });
        expect(view.problems).toEqual([]);
        expect(new Map(view.known)).toEqual(new Map(expected as [string, unknown][]));
        const snapshot = monitor.snapshot();
        expect(snapshot.map(titleOf)).toEqual(truth.map(([key]) => key).toSorted());
        expect(snapshot.map(stateOf)).toEqual(snapshot.map((item) => view.known.get(titleOf(item))));
        expect(new Set(snapshot.map(({ object }) => object?.apiVersion))).toEqual(
          new Set(truth.length === 0 ? [] : [version]),
        );
        expect(monitor.health()).toMatchObject({ watchFailure: undefined, filterFailures: [] });
        await monitor.stop();
        await neighbours.leaveAll();
        lab.stop.abort();
        await settle();
        expect([lab.api.openWatches, lab.clock.pendingDelaysMs]).toEqual([0, []]);
      },
    ),
    { numRuns: 500 },
  );
}, 120_000);
