import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { expectTruth, labOfEachTest } from '../../../test/support/reflector-lab.ts';

const labNow = labOfEachTest();

test('a watch that made progress ends the growth of pauses, however short it was', async () => {
  const { api, clock } = labNow();
  await labNow().follow();
  await settle();
  const pauses: (number | undefined)[] = [];
  const closed = async (): Promise<void> => {
    api.closeWatches();
    await settle();
    pauses.push(clock.pendingDelaysMs.find((ms) => ms <= 30_000));
  };
  for (let round = 0; round < 3; round += 1) {
    await closed();
    await clock.advance(pauses.at(-1) ?? 0);
  }
  api.put('a/one');
  await settle();
  await closed();
  await closed();
  expect(pauses).toEqual([800, 1_600, 3_200, undefined, 800]);
});

test('FAULT-A9: a watch that falls silent after an event is replaced by a list', async () => {
  const { api, clock, ended } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.put('a/one');
  await settle();
  api.isMute = true;
  api.put('a/two');
  await clock.advance(69_000);
  expect(ended).toEqual([]);
  api.isMute = false;
  await clock.advance(6_000);
  expectTruth(labNow(), sink);
  expect(ended).toEqual(['ConfigMap idle']);
});
