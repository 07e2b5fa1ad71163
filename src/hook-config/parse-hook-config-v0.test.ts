import { expect, test } from 'vitest';
import { NO_BINDINGS, parse, problemIn } from '../../test/support/hook-configs.ts';

test('a configuration without version is of the old format', async () => {
  expect(await parse({ onStartup: 1 })).toEqual({
    ...NO_BINDINGS,
    version: 'v0',
    lifecycle: { onStartup: 1 },
  });
});

test('onKubernetesEvent watches, without Synchronization, snapshots or a queue of its own', async () => {
  const { kubernetes } = await parse({ onKubernetesEvent: [{ kind: 'Pod', event: ['add', 'delete'] }] });
  expect(kubernetes).toEqual([
    {
      type: 'kubernetes',
      index: 0,
      name: 'onKubernetesEvent',
      queue: 'main',
      allowFailure: false,
      snapshotsFrom: [],
      executeOnSynchronization: false,
      waitForSynchronization: true,
      watch: {
        name: 'onKubernetesEvent',
        kind: 'Pod',
        keepFullObjects: true,
        executeOnEvents: ['Added', 'Deleted'],
      },
    },
  ]);
});

test('parse() understands every field of onKubernetesEvent', async () => {
  const { kubernetes } = await parse({
    onKubernetesEvent: [
      {
        name: 'pods',
        kind: 'pods',
        event: ['update'],
        objectName: 'web',
        selector: { matchLabels: { app: 'web' } },
        namespaceSelector: { matchNames: ['a', 'b'] },
        jqFilter: '.metadata.labels',
        allowFailure: true,
      },
    ],
  });
  expect(kubernetes[0]).toMatchObject({
    name: 'pods',
    allowFailure: true,
    watch: {
      name: 'pods',
      kind: 'pods',
      executeOnEvents: ['Modified'],
      nameSelector: ['web'],
      labelSelector: { matchLabels: { app: 'web' } },
      namespace: { nameSelector: ['a', 'b'] },
      jqFilter: '.metadata.labels',
    },
  });
});

test.each([[{ any: true, matchNames: ['a'] }], [{ any: true }], [{ matchNames: [] }], [{}]])(
  '%j selects all namespaces',
  async (namespaceSelector) => {
    const { kubernetes } = await parse({ onKubernetesEvent: [{ kind: 'Pod', namespaceSelector }] });
    expect(kubernetes[0]?.watch).not.toHaveProperty('namespace');
  },
);

test.each([[{}], [{ event: [] }]])('onKubernetesEvent with %j never runs the hook', async (fields) => {
  const { kubernetes } = await parse({ onKubernetesEvent: [{ kind: 'Pod', ...fields }] });
  expect(kubernetes[0]?.watch.executeOnEvents).toEqual([]);
});

test('items may have unknown properties, lists may be empty', async () => {
  const config = await parse({
    schedule: [{ name: 'n', crontab: '@daily', queue: 'ignored', foo: 1 }],
    onKubernetesEvent: [],
  });
  expect(config.schedule).toEqual([
    {
      type: 'schedule',
      name: 'n',
      crontab: '@daily',
      allowFailure: false,
      queue: 'main',
      snapshotsFrom: [],
    },
  ]);
  expect((await parse({ schedule: [] })).schedule).toEqual([]);
});

test.each([
  ['beforeHelm', 'module'],
  ['afterDeleteHelm', 'module'],
  ['beforeAll', 'global'],
] as const)('the old format has %s for %s hooks', async (binding, scope) => {
  expect((await parse({ [binding]: 5 }, scope)).lifecycle).toEqual({ [binding]: 5 });
  expect(await problemIn(parse({ [binding]: 5 }, scope === 'global' ? 'module' : 'global'))).toContain(
    `.${binding} is a forbidden property`,
  );
});

test.each([
  ['v0 as version', { configVersion: 'v0', onStartup: 1 }, '.configVersion is a forbidden property'],
  [
    'a binding of v1',
    { kubernetes: [{ kind: 'Pod' }] },
    ".kubernetes is a forbidden property; allowed: onStartup, beforeHelm, afterHelm, beforeDeleteHelm, afterDeleteHelm, schedule, onKubernetesEvent; for other bindings, set 'configVersion: v1'",
  ],
  [
    'a binding of global hooks',
    { beforeInstall: 1 },
    '.beforeInstall is a forbidden property; allowed: onStartup, beforeHelm, afterHelm, beforeDeleteHelm, afterDeleteHelm, schedule, onKubernetesEvent; only global hooks have this binding',
  ],
  [
    'an unknown event',
    { onKubernetesEvent: [{ kind: 'Pod', event: ['create'] }] },
    'onKubernetesEvent.event should be one of [add update delete]',
  ],
  ['no kind', { onKubernetesEvent: [{ event: ['add'] }] }, 'onKubernetesEvent.kind is required'],
  ['no crontab', { schedule: [{}] }, 'schedule.crontab is required'],
  ['a broken crontab', { schedule: [{ crontab: 'x' }] }, 'invalid schedule config [0]: crontab is invalid: '],
  [
    'a filter that does not compile',
    { onKubernetesEvent: [{ kind: 'Pod', jqFilter: '.a[' }] },
    'invalid onKubernetesEvent config [0]: jqFilter: compile jqFilter: ',
  ],
  [
    'a selector that selects nothing',
    { onKubernetesEvent: [{ kind: 'Pod', selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
    "invalid onKubernetesEvent config [0]: labelSelector is invalid: key 'a': In needs values",
  ],
])('parse() refuses %s', async (_what, config, problem) => {
  expect(await problemIn(parse(config))).toContain(problem);
});

test('the old format has no bindings to deploys', async () => {
  expect(await problemIn(parse({ beforeInstall: 1 }, 'global'))).toMatch(
    /^1 error.*\n \* \.beforeInstall is a forbidden property; .*for other bindings, set 'configVersion: v1'$/,
  );
});
