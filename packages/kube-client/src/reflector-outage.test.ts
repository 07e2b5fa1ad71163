import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import { refusal, unreachable } from '../../../test/support/fake-kube-api.ts';
import { ALL_CONFIG_MAPS, ReflectorLab } from '../../../test/support/reflector-lab.ts';

const MODULES = { resource: { ...ALL_CONFIG_MAPS.resource, kind: 'Module', plural: 'modules' } };

let lab = new ReflectorLab();
let log = new CapturedLog(lab.clock);

beforeEach(() => {
  lab = new ReflectorLab((clock) => {
    log = new CapturedLog(clock);
    return log.logger;
  });
});

afterEach(() => lab.stop.abort());

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
  await lab.follow();
  await lab.follow(MODULES);
  await lab.follow({ ...ALL_CONFIG_MAPS, namespace: 'a' });
  await settle();
  lab.api.isDown = true;
  lab.api.breakWatches();
  await lab.clock.advance(120_000);
  expect(shown()).toEqual(['warn: the API server does not respond, its watches go on when it does']);
  expect(log.records.find(({ level }) => level === 'warn')).toMatchObject({
    watches: 3,
    error: 'connection reset',
  });
  lab.api.isDown = false;
  await lab.clock.advance(30_000);
  expect(shown().slice(1)).toEqual(['info: the API server responds again']);
  expect(log.records.find(({ level }) => level === 'info')).toMatchObject({
    watches: 3,
    durationMs: expect.any(Number),
  });
});

test('a connection that is lost for a moment is no warning', async () => {
  await lab.follow();
  await settle();
  lab.api.breakWatches();
  lab.api.refuseNext('watch', unreachable());
  lab.api.put('a/one');
  await lab.clock.advance(5_000);
  expect([shown(), lab.api.openWatches]).toEqual([[], 1]);
});

test('a watch that alone has no response is a warning with its kind', async () => {
  await lab.follow();
  await lab.follow(MODULES);
  await settle();
  for (let attempt = 0; attempt < 8; attempt += 1)
    lab.api.refuseNext('watch', unreachable(), isWatchOf('modules'));
  lab.api.breakWatches();
  for (let second = 0; second < 30; second += 1) {
    lab.api.breakWatches(isWatchOf('configmaps'));
    await lab.clock.advance(1_000);
  }
  const warned = log.records.filter(({ level }) => level === 'warn');
  expect(warned[0]).toMatchObject({ kind: 'Module', msg: 'watch interrupted, will reconnect' });
});

test('FAULT-A11: a maintenance page that requests an hour blinds a watch for 30 s at most', async () => {
  const sink = await lab.follow();
  await settle();
  lab.api.refuseNext('watch', refusal(503, '', 3_600));
  lab.api.breakWatches();
  await lab.clock.advance(800);
  expect(lab.clock.pendingDelaysMs).toEqual([30_000]);
  lab.api.put('a/one');
  await lab.clock.advance(30_000);
  expect(sink.state).toEqual(lab.api.truth());
});

test('FAULT-A11: a request that succeeds ends the pause of a watch, but for its first five seconds', async () => {
  const sink = await lab.follow();
  await settle();
  lab.api.refuseNext('watch', refusal(503, '', 3_600));
  lab.api.breakWatches();
  await lab.clock.advance(800);
  lab.api.put('a/one');
  await lab.clock.advance(1_000);
  await lab.follow(MODULES);
  await lab.clock.advance(3_900);
  expect(sink.state).toEqual(new Map());
  await lab.clock.advance(100);
  expect(sink.state).toEqual(lab.api.truth());
});

test('a request that succeeded before the pause does not end it, and one that is refused does not', async () => {
  await lab.follow();
  await lab.follow(MODULES);
  await settle();
  for (const plural of ['configmaps', 'modules'])
    lab.api.refuseNext('watch', refusal(503, '', 3_600), isWatchOf(plural));
  lab.api.breakWatches();
  await lab.clock.advance(800);
  await lab.clock.advance(29_000);
  expect(lab.clock.pendingDelaysMs).toEqual([1_000, 1_000]);
});
