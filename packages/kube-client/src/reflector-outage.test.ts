import { expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { refusal, unreachable } from '../../../test/support/fake-kube-api.ts';
import { ALL_CONFIG_MAPS, labOfEachTest, ReflectorLab } from '../../../test/support/reflector-lab.ts';

const MODULES = { resource: { ...ALL_CONFIG_MAPS.resource, kind: 'Module', plural: 'modules' } };

let log = new CapturedLog(new FakeClock());
const labNow = labOfEachTest(
  () =>
    new ReflectorLab((clock) => {
      log = new CapturedLog(clock);
      return log.logger;
    }),
);

const isWatchOf =
  (plural: string) =>
  ({ path }: { readonly path: string }): boolean =>
    path.endsWith(`/${plural}`);

/** Records that operators see by default. */
function shown(): readonly unknown[] {
  return log.records
    .filter(({ level }) => level !== 'debug')
    .map(({ level, msg }) => `${String(level)}: ${String(msg)}`);
}

test('an outage is one warning with the number of watches, and one record with its duration at its end', async () => {
  await labNow().follow();
  await labNow().follow(MODULES);
  await labNow().follow({ ...ALL_CONFIG_MAPS, namespace: 'a' });
  await settle();
  labNow().api.isDown = true;
  labNow().api.breakWatches();
  await labNow().clock.advance(120_000);
  expect(shown()).toEqual(['warn: the API server does not respond, its watches go on when it does']);
  expect(log.records.find(({ level }) => level === 'warn')).toMatchObject({
    watches: 3,
    error: 'connection reset',
  });
  labNow().api.isDown = false;
  await labNow().clock.advance(30_000);
  expect(shown().slice(1)).toEqual(['info: the API server responds again']);
  expect(log.records.find(({ level }) => level === 'info')).toMatchObject({
    watches: 3,
    durationMs: expect.any(Number),
  });
});

test('a connection that is lost for a moment is no warning', async () => {
  await labNow().follow();
  await settle();
  labNow().api.breakWatches();
  labNow().api.refuseNext('watch', unreachable());
  labNow().api.put('a/one');
  await labNow().clock.advance(5_000);
  expect([shown(), labNow().api.openWatches]).toEqual([[], 1]);
});

test('a watch that alone has no response is a warning with its kind', async () => {
  await labNow().follow();
  await labNow().follow(MODULES);
  await settle();
  for (let attempt = 0; attempt < 8; attempt += 1)
    labNow().api.refuseNext('watch', unreachable(), isWatchOf('modules'));
  labNow().api.breakWatches();
  for (let second = 0; second < 30; second += 1) {
    labNow().api.breakWatches(isWatchOf('configmaps'));
    await labNow().clock.advance(1_000);
  }
  const warned = log.records.filter(({ level }) => level === 'warn');
  expect(warned[0]).toMatchObject({ kind: 'Module', msg: 'watch interrupted, will reconnect' });
});

test('FAULT-A11: a maintenance page that requests an hour blinds a watch for 30 s at most', async () => {
  const sink = await labNow().follow();
  await settle();
  labNow().api.refuseNext('watch', refusal(503, '', 3_600));
  labNow().api.breakWatches();
  await labNow().clock.advance(800);
  expect(labNow().clock.pendingDelaysMs).toEqual([30_000]);
  labNow().api.put('a/one');
  await labNow().clock.advance(30_000);
  expect(sink.state).toEqual(labNow().api.truth());
});

test('FAULT-A11: a request that succeeds ends the pause of a watch, but for its first five seconds', async () => {
  const sink = await labNow().follow();
  await settle();
  labNow().api.refuseNext('watch', refusal(503, '', 3_600));
  labNow().api.breakWatches();
  await labNow().clock.advance(800);
  labNow().api.put('a/one');
  await labNow().clock.advance(1_000);
  await labNow().follow(MODULES);
  await labNow().clock.advance(3_900);
  expect(sink.state).toEqual(new Map());
  await labNow().clock.advance(100);
  expect(sink.state).toEqual(labNow().api.truth());
});

test('a request that succeeded before the pause does not end it, and one that is refused does not', async () => {
  await labNow().follow();
  await labNow().follow(MODULES);
  await settle();
  for (const plural of ['configmaps', 'modules'])
    labNow().api.refuseNext('watch', refusal(503, '', 3_600), isWatchOf(plural));
  labNow().api.breakWatches();
  await labNow().clock.advance(800);
  await labNow().clock.advance(29_000);
  expect(labNow().clock.pendingDelaysMs).toEqual([1_000, 1_000]);
});
