import { expect, test } from 'vitest';
import { conversion, parse } from '../../test/support/hook-configs.ts';
import type { KubernetesBinding, ScheduleBinding } from '../hook-config/hook-config.ts';
import type { SnapshotItem } from '../hook-config/kubernetes-binding.ts';
import {
  buildBindingContexts,
  buildBindingContextsV0,
  mayShareRun,
  type RunReason,
} from './binding-context.ts';
import type { BindingContext, NumberedContext } from './context-document.ts';

const node = (name: string): SnapshotItem => ({
  object: { apiVersion: 'v1', kind: 'Node', metadata: { name } },
  filterResult: name,
});

function kubernetes(index: number, fields: Partial<KubernetesBinding> = {}): KubernetesBinding {
  return {
    type: 'kubernetes',
    index,
    name: `k${index}`,
    allowFailure: false,
    queue: 'main',
    snapshotsFrom: [],
    executeOnSynchronization: true,
    waitForSynchronization: true,
    watch: { name: `k${index}`, kind: 'Node', keepFullObjects: true, executeOnEvents: [] },
    ...fields,
  };
}

function schedule(fields: Partial<ScheduleBinding> = {}): ScheduleBinding {
  return {
    type: 'schedule',
    name: 'nightly',
    crontab: '@daily',
    allowFailure: false,
    queue: 'main',
    snapshotsFrom: [],
    ...fields,
  };
}

const build = (
  reasons: readonly RunReason[],
  bindings: readonly KubernetesBinding[] = [],
  snapshots: readonly (readonly SnapshotItem[])[] = [],
) => contextsOf(buildBindingContexts(reasons, bindings, (index) => snapshots[index] ?? []));

function contextsOf(numbered: Iterable<NumberedContext>): readonly BindingContext[] {
  return Array.from(numbered, ({ context }) => context);
}

test('an onStartup context is its binding alone, even with kubernetes bindings', () => {
  expect(build([{ type: 'lifecycle', binding: 'onStartup' }], [kubernetes(0)], [[node('n')]])).toEqual([
    { binding: 'onStartup' },
  ]);
});

test.each([
  'beforeAll',
  'afterAll',
  'beforeHelm',
  'afterHelm',
  'beforeDeleteHelm',
  'afterDeleteHelm',
] as const)('a context of %s carries all snapshots of the hook, none as {}', (binding) => {
  expect(build([{ type: 'lifecycle', binding }])).toEqual([{ binding, snapshots: {} }]);
  expect(build([{ type: 'lifecycle', binding }], [kubernetes(0), kubernetes(1)], [[node('n')]])).toEqual([
    { binding, snapshots: { k0: [node('n')], k1: [] } },
  ]);
});

test('a context of a deploy carries what is known of it, and all snapshots of the hook', () => {
  const facts = {
    module: { name: 'web', path: '/modules/web', version: '1.2.0' },
    release: { previousRevision: 3, revision: 4 },
    attempt: 2,
  };
  expect(build([{ type: 'deploy', binding: 'afterLaunch', facts }], [kubernetes(0)], [[node('n')]])).toEqual([
    { binding: 'afterLaunch', ...facts, snapshots: { k0: [node('n')] } },
  ]);
});

test('a schedule context has snapshots only if it includes some', () => {
  expect(build([{ type: 'schedule', binding: schedule() }])).toEqual([
    { binding: 'nightly', type: 'Schedule' },
  ]);
  const including = schedule({ snapshotsFrom: [1, 0] });
  expect(
    build([{ type: 'schedule', binding: including }], [kubernetes(0), kubernetes(1)], [[node('n')]]),
  ).toEqual([{ binding: 'nightly', type: 'Schedule', snapshots: { k1: [], k0: [node('n')] } }]);
});

test('a Synchronization context carries the objects of its own binding', () => {
  const bindings = [kubernetes(0), kubernetes(1, { snapshotsFrom: [0] })];
  const reasons = bindings.map((binding): RunReason => ({ type: 'synchronization', binding }));
  expect(build(reasons, bindings, [[node('a')], [node('b')]])).toEqual([
    { binding: 'k0', type: 'Synchronization', objects: [node('a')] },
    { binding: 'k1', type: 'Synchronization', objects: [node('b')], snapshots: { k0: [node('a')] } },
  ]);
  expect(build(reasons.slice(0, 1), bindings)).toEqual([
    { binding: 'k0', type: 'Synchronization', objects: [] },
  ]);
});

test.each([
  ['with a filter', node('n'), node('n')],
  ['with a filter that found null', { filterResult: null }, { filterResult: null }],
  ['without full objects and filter', {}, {}],
])('an Event context carries the object of the event: %s', (_what, item, expected) => {
  const reason: RunReason = {
    type: 'event',
    binding: kubernetes(0),
    event: { watchEvent: 'Modified', key: '/a', item },
  };
  expect(build([reason], [kubernetes(0)], [[node('newer')]])).toEqual([
    { binding: 'k0', type: 'Event', watchEvent: 'Modified', ...expected },
  ]);
});

test('contexts of a group carry snapshots only, for each kind of run', () => {
  const bindings = [kubernetes(0, { group: 'g', snapshotsFrom: [0] })];
  const [binding = kubernetes(0)] = bindings;
  const group = { type: 'Group', groupName: 'g' };
  const event: RunReason = {
    type: 'event',
    binding,
    event: { watchEvent: 'Added', key: '/a', item: node('old') },
  };
  for (const reason of [{ type: 'synchronization', binding } as const, event])
    expect(build([reason], bindings, [[node('n')]])).toEqual([
      { binding: 'k0', ...group, snapshots: { k0: [node('n')] } },
    ]);
});

test('a group of schedules alone has no snapshots', () => {
  expect(build([{ type: 'schedule', binding: schedule({ group: 'g' }) }])).toEqual([
    { binding: 'nightly', type: 'Group', groupName: 'g' },
  ]);
});

test('of bindings with one name the first gives the snapshot, while each synchronizes with its own objects', () => {
  const both = { name: 'kubernetes', group: 'g', snapshotsFrom: [0, 1] };
  const grouped = [kubernetes(0, both), kubernetes(1, both)];
  const reason: RunReason = { type: 'schedule', binding: schedule({ group: 'g', snapshotsFrom: [0, 1] }) };
  expect(build([reason], grouped, [[node('a')], [node('b')]])).toMatchObject([
    { snapshots: { kubernetes: [node('a')] } },
  ]);
  const plain = [kubernetes(0, { name: 'kubernetes' }), kubernetes(1, { name: 'kubernetes' })];
  expect(
    build(
      plain.map((binding) => ({ type: 'synchronization', binding })),
      plain,
      [[node('a')], [node('b')]],
    ),
  ).toMatchObject([{ objects: [node('a')] }, { objects: [node('b')] }]);
});

test('contexts of one group in a row are reduced to the last, which covers the reasons before it', () => {
  const member = (name: string, group?: string): RunReason => ({
    type: 'schedule',
    binding: schedule({ name, ...(group === undefined ? {} : { group }) }),
  });
  const kept = (reasons: readonly RunReason[]) => build(reasons).map(({ binding }) => binding);
  const row = [member('a', 'g'), member('b', 'g'), member('c'), member('d', 'g')];
  expect(
    Array.from(
      buildBindingContexts(row, [], () => []),
      ({ covered }) => covered,
    ),
  ).toEqual([2, 3, 4]);
  expect(kept(row)).toEqual(['b', 'c', 'd']);
  expect(kept([member('a', 'g'), member('b', 'h'), member('c', 'g')])).toEqual(['a', 'b', 'c']);
  expect(kept([member('a'), member('b')])).toEqual(['a', 'b']);
  expect(kept([])).toEqual([]);
});

test('buildBindingContexts() reads each snapshot once, so all contexts see one state', () => {
  const bindings = [kubernetes(0, { snapshotsFrom: [0] })];
  const [binding = kubernetes(0)] = bindings;
  const read: number[] = [];
  const contexts = buildBindingContexts(
    [
      { type: 'synchronization', binding },
      { type: 'lifecycle', binding: 'beforeHelm' },
    ],
    bindings,
    (index) => {
      read.push(index);
      return [node(`read-${read.length}`)];
    },
  );
  expect(read).toEqual([0]);
  expect(contextsOf(contexts)).toEqual([
    {
      binding: 'k0',
      type: 'Synchronization',
      objects: [node('read-1')],
      snapshots: { k0: [node('read-1')] },
    },
    { binding: 'beforeHelm', snapshots: { k0: [node('read-1')] } },
  ]);
});

test('mayShareRun() keeps Synchronizations with different flags apart', () => {
  const sync = (fields: Partial<KubernetesBinding>): RunReason => ({
    type: 'synchronization',
    binding: kubernetes(0, fields),
  });
  expect(mayShareRun(sync({}), sync({}))).toBe(true);
  expect(mayShareRun(sync({}), sync({ waitForSynchronization: false }))).toBe(false);
  expect(mayShareRun(sync({}), sync({ executeOnSynchronization: false }))).toBe(false);
  expect(
    mayShareRun(sync({ waitForSynchronization: false }), { type: 'schedule', binding: schedule() }),
  ).toBe(true);
});

const config = await parse({
  schedule: [{ name: 'nightly', crontab: '@daily' }],
  onKubernetesEvent: [{ name: 'pods', kind: 'pod', event: ['add', 'update', 'delete'] }],
});

test('a context without an object is the binding alone', () => {
  const reasons: readonly RunReason[] = [
    { type: 'lifecycle', binding: 'onStartup' },
    { type: 'lifecycle', binding: 'beforeHelm' },
    ...config.schedule.map((binding) => ({ type: 'schedule', binding }) as const),
  ];
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toEqual([
    { binding: 'onStartup' },
    { binding: 'beforeHelm' },
    { binding: 'nightly' },
  ]);
});

test.each([
  ['Added', 'add'],
  ['Modified', 'update'],
  ['Deleted', 'delete'],
] as const)('a context of %s names the object', (watchEvent, resourceEvent) => {
  const object = { kind: 'Pod', metadata: { namespace: 'x', name: 'p' } };
  const reasons = config.kubernetes.map(
    (binding) => ({ type: 'event', binding, event: { watchEvent, key: '/a', item: { object } } }) as const,
  );
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toEqual([
    {
      binding: 'pods',
      resourceEvent,
      resourceNamespace: 'x',
      resourceKind: 'Pod',
      resourceName: 'p',
    },
  ]);
});

test('objects outside of namespaces have an empty one', () => {
  const object = { kind: 'Node', metadata: { name: 'n' } };
  const reasons = config.kubernetes.map(
    (binding) =>
      ({ type: 'event', binding, event: { watchEvent: 'Added', key: '/a', item: { object } } }) as const,
  );
  expect(buildBindingContextsV0(reasons).map(({ context }) => context)).toMatchObject([
    { resourceNamespace: '', resourceKind: 'Node' },
  ]);
});

test.each([{}, { group: 'g' }])('the context of a conversion keeps its type: %j', async (fields) => {
  const { conversion: bindings, kubernetes } = await conversion({
    ...fields,
    includeSnapshotsFrom: ['pods'],
  });
  const review = { request: { uid: '9a', desiredAPIVersion: 'acme.io/v2', objects: [] } };
  const reasons = bindings.flatMap((binding) =>
    binding.conversions.map((rule) => ({ type: 'conversion', binding, rule, review }) as const),
  );
  const contexts = buildBindingContexts(reasons, kubernetes, () => []);
  expect(Array.from(contexts, ({ context }) => context)).toEqual([
    {
      binding: 'conv',
      type: 'Conversion',
      fromVersion: 'v1',
      toVersion: 'acme.io/v2',
      review,
      snapshots: 'group' in fields ? { pods: [], nodes: [] } : { pods: [] },
    },
  ]);
});
