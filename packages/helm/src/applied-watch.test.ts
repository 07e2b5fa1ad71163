import { messageOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS, refusal } from '../../../test/support/fake-kube-api.ts';
import { ReflectorLab } from '../../../test/support/reflector-lab.ts';
import { AppliedWatch } from './applied-watch.ts';

let lab: ReflectorLab;
let watch: AppliedWatch;
let stop: AbortController;

beforeEach(() => {
  lab = new ReflectorLab();
  stop = new AbortController();
  const { reflectors, clock } = lab;
  watch = new AppliedWatch({
    reflectors,
    clock,
    random: () => 0.5,
    log: silentLogger,
    labelSelector: 'of=us',
  });
});
afterEach(() => stop.abort());

const LABELS = { labels: { of: 'us' } };

/** The reports about objects: those that exist, those that do not with a minus, and why nothing can be reported. */
function follow(names: readonly string[], signal = stop.signal): string[] {
  const reported: string[] = [];
  const onChange = (name: string, metadata: unknown): void => {
    reported.push(metadata === undefined ? `-${name}` : name);
  };
  const onUnwatched = (error: unknown): void => {
    reported.push(messageOf(error));
  };
  watch.follow(CONFIG_MAPS, 'ns', { names: new Set(names), onChange, onUnwatched }, signal);
  return reported;
}

test('followers hear of their objects, first the state, then changes', async () => {
  lab.api.put('ns/a', LABELS);
  lab.api.put('ns/other', LABELS);
  const reported = follow(['a', 'b']);
  await settle();
  expect(reported.toSorted()).toEqual(['-b', 'a']);
  lab.api.put('ns/b', LABELS);
  lab.api.put('ns/other', { ...LABELS, data: {} });
  lab.api.delete('ns/a');
  await settle();
  expect(reported.slice(2)).toEqual(['b', '-a']);
});

test('all who follow in one place share one list and one watch of metadata, and the last one ends it', async () => {
  lab.api.put('ns/a', LABELS);
  const first = follow(['a']);
  await settle();
  const leave = new AbortController();
  expect(follow(['a'], leave.signal)).toEqual(['a']);
  expect(first).toEqual(['a']);
  expect([lab.api.count('list'), lab.api.count('watch')]).toEqual([1, 1]);
  expect(lab.api.requests.every(({ accept }) => accept?.includes('as=PartialObjectMetadata'))).toBe(true);
  leave.abort();
  await settle();
  expect(lab.api.openWatches).toBe(1);
  stop.abort();
  await settle();
  expect(lab.api.openWatches).toBe(0);
});

test('the failure to start a watch is reported to all followers, and it is tried again later', async () => {
  lab.api.put('ns/a', LABELS);
  lab.api.refuseNext('list', refusal(403, 'Forbidden'));
  const reported = follow(['a']);
  await settle();
  const late = follow(['a']);
  expect(reported).toEqual([expect.stringContaining('Forbidden')]);
  expect(late).toEqual(reported);
  expect(lab.clock.pendingDelaysMs).toEqual([5_000]);
  await lab.clock.advance(5_000);
  expect(reported.slice(1)).toEqual(['a']);
  expect(late.slice(1)).toEqual(['a']);
});
