import { afterEach, beforeEach, expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { refusal } from '../../../test/support/fake-kube-api.ts';
import type { RecordingSink } from '../../../test/support/recording-sink.ts';
import { ReflectorLab } from '../../../test/support/reflector-lab.ts';

let lab = new ReflectorLab();

beforeEach(() => {
  lab = new ReflectorLab();
});

afterEach(() => lab.stop.abort());

/** The sink knows exactly what the server has, and received nothing impossible. */
function expectTruth(sink: RecordingSink): void {
  expect(sink.state).toEqual(lab.api.truth());
  expect(sink.problems).toEqual([]);
}

test('FAULT-A6: an object that is deleted before a list starts again is reported as deleted', async () => {
  const { api, clock } = lab;
  for (let index = 0; index < 600; index += 1) api.put(`a/${index}`);
  const sink = await lab.follow();
  await settle();
  api.breakWatches();
  api.compact();
  api.refuseNext('list', refusal(410, 'Expired'), ({ query }) => {
    const isSecondPage = query?.['continue'] !== undefined;
    if (isSecondPage) api.delete('a/0');
    return isSecondPage;
  });
  api.put('a/599', { data: {} });
  api.compact();
  await clock.advance(3_000);
  expect(sink.log).toEqual(['Deleted a/0', 'Modified a/599@701']);
  expectTruth(sink);
});

test('FAULT-A6: a first state contains nothing of a list that has expired', async () => {
  const { api } = lab;
  for (let index = 0; index < 600; index += 1) api.put(`a/${index}`);
  api.refuseNext('list', refusal(410, 'Expired'), ({ query }) => {
    const isSecondPage = query?.['continue'] !== undefined;
    if (isSecondPage) api.delete('a/0');
    return isSecondPage;
  });
  const sink = await lab.follow();
  expect(sink.state.size).toBe(599);
  expectTruth(sink);
});

test('FAULT-A6: a list that always expires fails after three attempts', async () => {
  const { api } = lab;
  for (let attempt = 0; attempt < 5; attempt += 1) api.refuseNext('list', refusal(410, 'Expired'));
  await expect(lab.follow()).rejects.toMatchObject({ status: 410 });
  expect(api.count('list')).toBe(3);
});
