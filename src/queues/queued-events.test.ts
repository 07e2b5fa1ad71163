import { expect, test } from 'vitest';
import { failing, operatorLab } from '../../test/support/operator-lab.ts';
import { queuedEvents } from './queued-events.ts';

const LIMIT_BYTES = 64 * 1024;
const EVENTS = 3_000;
const OBJECTS = 10;
const EVENTS_BELOW_LIMIT = 140;

const V1 = { kubernetes: [{ kind: 'Pod', name: 'pods', queue: 'own' }] };
const V0 = { configVersion: undefined, onKubernetesEvent: [{ kind: 'Pod' }] };

test.each([
  ['v1', V1, 'pods', 'own'],
  ['v0', V0, 'onKubernetesEvent', 'main'],
])(
  'what waits for a failing %s hook is bounded, and the hook gets the last state of every object',
  async (_version, config, binding, queue) => {
    await using lab = await operatorLab(['web'], { 'web/a.sh': config }, { maxBacklogBytes: LIMIT_BYTES });
    await lab.converge();
    lab.behaviours.set('web/a.sh', failing);
    const { backlog } = lab;
    let maxBytes = 0;
    for (let count = 0; count < EVENTS; count += 1) {
      const name = `pod-${count % OBJECTS}`;
      const object = { kind: 'Pod', metadata: { name, namespace: `${count}` }, text: 'x'.repeat(1_000) };
      lab.monitors
        .get(`web/a.sh/${binding}`)
        ?.emit({ watchEvent: 'Modified', key: `/${name}`, item: { object } });
      maxBytes = Math.max(maxBytes, backlog.heldBytes);
      if (count % 500 === 0) await lab.pass(30_000, 1);
    }
    expect(maxBytes).toBeGreaterThan(LIMIT_BYTES / 2);
    expect(maxBytes).toBeLessThan(LIMIT_BYTES * 1.2);
    expect(lab.droppedEvents).toBeGreaterThan(EVENTS / 2);
    expect(lab.log.records.filter(({ msg }) => msg === 'the backlog is full').length).toBeGreaterThan(0);

    const last = new Map<unknown, unknown>();
    lab.behaviours.set('web/a.sh', ({ contexts }) => {
      for (const { object, resourceName, resourceNamespace } of contexts) {
        const { name, namespace } = (object as { metadata: { name: string; namespace: string } } | undefined)
          ?.metadata ?? { name: resourceName, namespace: resourceNamespace };
        last.set(name, namespace);
      }
    });
    await lab.pass(30_000, 20);
    expect(lab.tasks(queue)).toEqual([]);
    expect(last).toEqual(
      new Map(Array.from({ length: OBJECTS }, (_, index) => [`pod-${index}`, `${EVENTS - OBJECTS + index}`])),
    );
  },
);

test.each([
  ['v1', V1, 'pods'],
  ['v0', V0, 'onKubernetesEvent'],
])(
  'what a run of a %s hook was given counts until it ends, and what comes during the run is bounded with it',
  async (_version, config, binding) => {
    // The last states of all objects take less than a tenth of it.
    const limitBytes = 4 * LIMIT_BYTES;
    await using lab = await operatorLab(['web'], { 'web/a.sh': config }, { maxBacklogBytes: limitBytes });
    await lab.converge();
    lab.behaviours.set('web/a.sh', failing);
    const { backlog } = lab;
    let state = 0;
    const emit = (): void => {
      state += 1;
      const name = `pod-${state % OBJECTS}`;
      const object = { kind: 'Pod', metadata: { name, namespace: `${state}` }, text: 'x'.repeat(1_000) };
      const monitor = lab.monitors.get(`web/a.sh/${binding}`);
      monitor?.emit({ watchEvent: 'Modified', key: `/${name}`, item: { object } });
    };
    for (let count = 0; count < EVENTS_BELOW_LIMIT; count += 1) emit();
    const run = Promise.withResolvers<void>();
    lab.behaviours.set('web/a.sh', async () => {
      await run.promise;
      throw new Error('hook is broken');
    });
    await lab.pass(60_000, 1);
    const givenBytes = backlog.heldBytes;
    expect(givenBytes).toBeGreaterThan(limitBytes * 0.8);
    let maxBytes = 0;
    for (let count = 0; count < EVENTS; count += 1) {
      emit();
      maxBytes = Math.max(maxBytes, backlog.heldBytes);
    }
    run.resolve();
    await lab.settle();
    emit();
    expect(Math.max(maxBytes, backlog.heldBytes)).toBeLessThan(limitBytes * 1.2);
    expect(lab.log.records.filter(({ msg }) => msg === 'the backlog is full')).toHaveLength(1);

    lab.behaviours.clear();
    await lab.pass(60_000, 20);
    expect(backlog.heldBytes).toBe(0);
  },
);

test('tasks of a hook without configVersion become one in a long queue, and it still gets one context a run', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': V0 });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  for (let count = 0; count < 150; count += 1) lab.emit('web/a.sh/onKubernetesEvent');
  expect(lab.operator.router.main.length).toBeLessThan(60);
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.pass(30_000, 3);
  expect(lab.calls.filter((call) => call === 'web/a.sh onKubernetesEvent')).toHaveLength(150);
});

test('a task whose events are all dropped leaves its queue', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': V1 });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.emit('web/a.sh/pods');
  await lab.settle();
  lab.emit('web/a.sh/pods');
  lab.emit('web/a.sh/pods');
  const queues = lab.operator.queues;
  const holder = queuedEvents(queues);
  const [, ...behind] = holder.rows().flat();
  const [dropped] = behind;
  if (dropped === undefined) throw new Error('no event waits');
  const before = lab.tasks('own').length;
  holder.drop(new Set([dropped.event]));
  expect(lab.tasks('own')).toHaveLength(before - 1);
});
