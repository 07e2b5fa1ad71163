import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { MonitorLab } from '../../../test/support/monitor-lab.ts';
import type { KubernetesEvent, SnapshotItem } from '../../hooks/kubernetes-binding.ts';
import { keyOf } from '../../kube/reflector-sink.ts';

const OBJECTS = ['a/1', 'a/2', 'b/1', 'b/2'];
const NAMESPACES = ['/a', '/b'];
const BINDINGS = [
  {},
  { jqFilter: '.data.x' },
  { namespace: { labelSelector: { matchLabels: { watch: 'yes' } } } },
] as const;

type Step =
  | { readonly type: 'put'; readonly key: string; readonly x: number }
  | { readonly type: 'delete'; readonly key: string }
  | { readonly type: 'label'; readonly namespace: string; readonly watch: string }
  | { readonly type: 'break' | 'expire' | 'snapshot' | 'turn' | 'wait' };

const key = fc.constantFrom(...OBJECTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('put' as const), key, x: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('label' as const),
      namespace: fc.constantFrom(...NAMESPACES),
      watch: fc.constantFrom('yes', 'no'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(...(['break', 'expire', 'snapshot', 'turn', 'wait'] as const)),
    }),
  },
);

/** What a hook knows that remembers its snapshot and applies every event to it. */
class HookView {
  readonly problems: string[] = [];
  #known = new Map<string, unknown>();

  remember(snapshot: readonly SnapshotItem[]): void {
    this.#known = new Map(snapshot.map((item) => [titleOf(item), stateOf(item)]));
  }

  apply({ watchEvent, item }: KubernetesEvent): void {
    const title = titleOf(item);
    const isKnown = this.#known.has(title);
    if (isKnown === (watchEvent === 'Added')) this.problems.push(`${watchEvent} out of turn for ${title}`);
    if (watchEvent === 'Deleted') this.#known.delete(title);
    else this.#known.set(title, stateOf(item));
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
  switch (one.type) {
    case 'put':
      lab.api.put(one.key, { data: { x: one.x } });
      break;
    case 'delete':
      lab.api.delete(one.key);
      break;
    case 'label':
      lab.api.put(one.namespace, { labels: { watch: one.watch } }, 'namespaces');
      break;
    case 'break':
      lab.api.breakWatches();
      break;
    case 'expire':
      lab.api.breakWatches();
      lab.api.compact();
      break;
    case 'snapshot':
    case 'turn':
    case 'wait':
      break;
  }
}

test('P2, FAULT-A21, FAULT-J14: the last snapshot before unlock() plus all events is what the server has', async () => {
  const script = fc.array(step, { maxLength: 25 });
  const before = fc.array(step, { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...BINDINGS),
      before,
      script,
      script,
      async (binding, before, locked, live) => {
        const lab = new MonitorLab();
        for (const namespace of NAMESPACES) play(lab, { type: 'label', namespace, watch: 'yes' });
        for (const one of before) play(lab, one);
        const view = new HookView();
        const monitor = await lab.started(binding, { onEvent: (event) => view.apply(event) });
        const run = async (one: Step): Promise<void> => {
          play(lab, one);
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
        for (let round = 0; round < 8; round += 1) await lab.clock.advance(10_000);

        const namespaces = lab.api.truth('namespaces');
        const isWatched = (key: string): boolean =>
          !('namespace' in binding) ||
          namespaces.get(`/${key.split('/')[0]}`)?.metadata.labels?.['watch'] === 'yes';
        const truth = [...lab.api.truth()].filter(([key]) => isWatched(key));
        const expected = truth.map(([key, object]) => {
          const data = object['data'] as { readonly x: number };
          return [key, 'jqFilter' in binding ? data.x : object.metadata.resourceVersion];
        });
        expect(view.problems).toEqual([]);
        expect(new Map(view.known)).toEqual(new Map(expected as [string, unknown][]));
        expect(monitor.snapshot().map(titleOf)).toEqual(truth.map(([key]) => key).toSorted());
        await monitor.stop();
        lab.stop.abort();
        await settle();
        expect([lab.api.openWatches, lab.clock.pendingDelaysMs]).toEqual([0, []]);
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);
