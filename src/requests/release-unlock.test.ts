import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { releaseUnlock } from './release-unlock.ts';

const signal = new AbortController().signal;

test('releaseUnlock() lets the run that failed for the lock go on at once', async () => {
  await using lab = await operatorLab(['web']);
  lab.releases.add('web');
  lab.obstacles.set('deploy web', () => {
    throw new Error('locked');
  });
  await lab.converge();
  expect(lab.main.status.type).toBe('delayed');
  lab.obstacles.set('unlock web', () => {
    lab.obstacles.delete('deploy web');
  });
  expect(await releaseUnlock(lab.operator, 'web', signal)).toMatchObject({ type: 'unlocked' });
  await lab.settle();
  expect(lab.operator.converge.first).toBe('done');
});

test('releaseUnlock() runs an enabled module that waits for nothing', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.takeCalls();
  await releaseUnlock(lab.operator, 'web', signal);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['unlock web', 'deploy web']);
});

test('releaseUnlock() removes a release of ours without a module, which the lock has kept', async () => {
  await using lab = await operatorLab([]);
  lab.releases.add('old');
  lab.obstacles.set('uninstall old', () => {
    throw new Error('locked');
  });
  await lab.converge();
  expect([...lab.releases]).toEqual(['old']);
  lab.obstacles.clear();
  await releaseUnlock(lab.operator, 'old', signal);
  await lab.settle();
  expect([...lab.releases]).toEqual([]);
});

test('releaseUnlock() runs nothing for a release that does not exist', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.releases.clear();
  lab.takeCalls();
  expect(await releaseUnlock(lab.operator, 'web', signal)).toEqual({ type: 'absent' });
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['unlock web']);
});
