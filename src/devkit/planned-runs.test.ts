import { expect, test } from 'vitest';
import { v1 } from '../../test/support/hook-configs.ts';
import {
  bindingForEvent,
  type PlannedRun,
  runnableBindings,
  runOfBinding,
  runsAtStart,
} from './planned-runs.ts';

const textOf = ({ binding, reasons }: PlannedRun): string =>
  `${binding}: ${reasons.map((reason) => `${reason.type} ${typeof reason.binding === 'string' ? reason.binding : reason.binding.name}`).join(' + ')}`;

test.each([
  ['onStartup alone', { onStartup: 1, beforeHelm: 1 }, ['onStartup: lifecycle onStartup']],
  [
    'Synchronizations of one queue together, behind onStartup',
    {
      onStartup: 1,
      kubernetes: [
        { name: 'pods', kind: 'Pod' },
        { name: 'nodes', kind: 'Node' },
      ],
    },
    ['onStartup: lifecycle onStartup', 'kubernetes: synchronization pods + synchronization nodes'],
  ],
  [
    'bindings of other queues, and those without a waiting task, apart',
    {
      kubernetes: [
        { name: 'pods', kind: 'Pod' },
        { name: 'nodes', kind: 'Node', queue: 'slow' },
        { name: 'jobs', kind: 'Job', queue: 'slow', waitForSynchronization: false },
        { name: 'quiet', kind: 'Secret', executeHookOnSynchronization: false },
      ],
    },
    [
      'kubernetes: synchronization pods',
      'kubernetes: synchronization nodes',
      'kubernetes: synchronization jobs',
    ],
  ],
  ['the first lifecycle binding', { afterHelm: 1, beforeHelm: 5 }, ['beforeHelm: lifecycle beforeHelm']],
  ['a schedule alone', { schedule: [{ name: 'tick', crontab: '* * * * *' }] }, ['schedule: schedule tick']],
  [
    'a binding without Synchronization alone',
    { kubernetes: [{ name: 'quiet', kind: 'Secret', executeHookOnSynchronization: false }] },
    ['kubernetes: synchronization quiet'],
  ],
])('runsAtStart(): %s', async (_name, config, runs) => {
  expect(runsAtStart(await v1(config)).map(textOf)).toEqual(runs);
});

test('each lifecycle, kubernetes and schedule binding can be run by its name', async () => {
  const config = await v1({
    beforeHelm: 1,
    afterDeleteHelm: 2,
    kubernetes: [{ name: 'pods', kind: 'Pod' }],
    schedule: [{ name: 'nightly', crontab: '0 3 * * *' }],
  });
  const names = ['beforeHelm', 'afterDeleteHelm', 'pods', 'nightly'];
  expect([...runnableBindings(config).keys()]).toEqual(names);
  expect(names.map((name) => textOf(runOfBinding(config, name)))).toEqual([
    'beforeHelm: lifecycle beforeHelm',
    'afterDeleteHelm: lifecycle afterDeleteHelm',
    'kubernetes: synchronization pods',
    'schedule: schedule nightly',
  ]);
  expect(() => runOfBinding(config, 'nigthly')).toThrow(
    `the hook has no binding 'nigthly' (did you mean "nightly"?); it has beforeHelm, afterDeleteHelm, pods, nightly`,
  );
});

test('a hook of a webhook alone has nothing to run', async () => {
  const config = await v1({
    kubernetesValidating: [
      {
        name: 'a.example.com',
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
    ],
  });
  expect(runsAtStart(config)).toEqual([]);
  expect(() => runOfBinding(config, 'a.example.com')).toThrow(
    'it runs lifecycle, kubernetes and schedule bindings',
  );
});

test.each([
  [{ onStartup: 1 }, undefined, '--event: the hook has no kubernetes bindings'],
  [
    {
      kubernetes: [
        { name: 'pods', kind: 'Pod' },
        { name: 'nodes', kind: 'Node' },
      ],
    },
    undefined,
    '--event: the hook has several kubernetes bindings: choose one with --binding: pods, nodes',
  ],
  [
    { kubernetes: [{ name: 'pods', kind: 'Pod' }] },
    'pod',
    `the hook has no kubernetes binding 'pod' (did you mean "pods"?); it has pods`,
  ],
])('bindingForEvent() of %j and %s is refused', async (given, name, message) => {
  const config = await v1(given);
  expect(() => bindingForEvent(config, name)).toThrow(message);
});
