import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { refusal } from '../../../test/support/fake-kube-api.ts';
import { expectTruth, labOfEachTest } from '../../../test/support/reflector-lab.ts';

const labNow = labOfEachTest();

test('FAULT-A6: an object that is deleted before a list starts again is reported as deleted', async () => {
  const { api, clock } = labNow();
  for (let index = 0; index < 600; index += 1) api.put(`a/${index}`);
  const sink = await labNow().follow();
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
  expectTruth(labNow(), sink);
});

test('FAULT-A6: a first state contains nothing of a list that has expired', async () => {
  const { api } = labNow();
  for (let index = 0; index < 600; index += 1) api.put(`a/${index}`);
  api.refuseNext('list', refusal(410, 'Expired'), ({ query }) => {
    const isSecondPage = query?.['continue'] !== undefined;
    if (isSecondPage) api.delete('a/0');
    return isSecondPage;
  });
  const sink = await labNow().follow();
  expect(sink.state.size).toBe(599);
  expectTruth(labNow(), sink);
});

test('FAULT-A6: a list that always expires fails after three attempts', async () => {
  const { api } = labNow();
  for (let attempt = 0; attempt < 5; attempt += 1) api.refuseNext('list', refusal(410, 'Expired'));
  await expect(labNow().follow()).rejects.toMatchObject({ status: 410 });
  expect(api.count('list')).toBe(3);
});
