import { expect, test } from 'vitest';
import { name, operatorLab } from '../../test/support/operator-lab.ts';
import { handOverActions } from './hand-over-tasks.ts';

const WEB = name('web');
const never = new AbortController().signal;

test('nothing of a module that is handed over runs: no run, no hook, no deletion; others go on', async () => {
  await using lab = await operatorLab(['db', 'web'], {
    'web/watch.sh': { configVersion: 'v1', kubernetes: [{ name: 'pods', kind: 'Pod' }] },
  });
  lab.handedOver.add('web');
  await lab.converge();
  expect(lab.takeCalls().filter((call) => !call.startsWith('discover'))).not.toContainEqual(
    expect.stringContaining('web'),
  );
  lab.enabled.delete('web');
  lab.releases.add('web');
  lab.startOver();
  await lab.settle();
  const calls = lab.takeCalls();
  expect(calls).toContain('deploy db');
  expect(calls.filter((call) => call.includes('web'))).toEqual([]);
  expect(lab.operator.queues.all.flatMap(({ entries }) => entries)).toEqual([]);
});

test('a module that is handed over ends, and starts from the beginning when it is taken back', async () => {
  await using lab = await operatorLab(['web'], {
    'web/all.sh': {
      configVersion: 'v1',
      onStartup: 1,
      kubernetes: [{ name: 'pods', kind: 'Pod' }],
      schedule: [{ name: 'often', crontab: '* * * * *' }],
    },
  });
  await lab.converge();
  const actions = handOverActions(lab.operator, { change: async () => undefined });
  lab.takeCalls();
  const runtime = lab.runtimeOf('web/all.sh');
  lab.handedOver.add('web');
  await actions.begin('web');
  await actions.end('web', never);
  lab.emit('web/all.sh/pods');
  await lab.settle();
  expect([runtime.isStopped, runtime.areSchedulesEnabled]).toEqual([true, false]);
  expect(lab.operator.registry.tracked.has(WEB)).toBe(false);
  expect(lab.takeCalls().filter((call) => call.startsWith('web/'))).toEqual([]);
  lab.handedOver.delete('web');
  actions.onTakenBack('web');
  await lab.settle();
  expect(lab.takeCalls()).toEqual(
    expect.arrayContaining(['web/all.sh onStartup', 'web/all.sh Synchronization:pods', 'deploy web']),
  );
});

test('a module that was disabled while it was handed over is deleted when it is taken back', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  const actions = handOverActions(lab.operator, { change: async () => undefined });
  lab.handedOver.add('web');
  await actions.end('web', never);
  lab.releases.add('web');
  lab.enabled.delete('web');
  lab.startOver();
  await lab.settle();
  expect(lab.takeCalls()).not.toContain('uninstall web');
  lab.handedOver.delete('web');
  actions.onTakenBack('web');
  await lab.settle();
  expect(lab.takeCalls()).toContain('uninstall web');
});

test('the release of a module that the operator does not know is removed when it is taken back, not before', async () => {
  await using lab = await operatorLab(['db']);
  lab.handedOver.add('web');
  lab.releases.add('web');
  await lab.converge();
  const actions = handOverActions(lab.operator, { change: async () => undefined });
  await actions.end('web', never);
  await lab.settle();
  expect(lab.takeCalls()).not.toContain('uninstall web');
  lab.handedOver.delete('web');
  actions.onTakenBack('web');
  await lab.settle();
  expect(lab.takeCalls()).toContain('uninstall web');
});

test('a module that is taken back before the first converge is over does not begin the search for releases', async () => {
  await using lab = await operatorLab(['db']);
  lab.releases.add('web');
  handOverActions(lab.operator, { change: async () => undefined }).onTakenBack('web');
  expect(lab.operator.router.main.entries).toEqual([]);
  await lab.converge();
  expect(lab.takeCalls().filter((call) => call === 'uninstall web')).toHaveLength(1);
});
