import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import { NO_BINDINGS, parse, problemIn, v1 } from '../../test/support/hook-configs.ts';

test('parse() fills in the defaults of a minimal configuration', async () => {
  const config = await v1({
    onStartup: 10,
    schedule: [{ crontab: '* * * * *' }],
    kubernetes: [{ kind: 'Pod' }],
  });
  expect(config).toEqual({
    ...NO_BINDINGS,
    lifecycle: { onStartup: 10 },
    schedule: [
      {
        type: 'schedule',
        name: 'schedule',
        crontab: '* * * * *',
        queue: 'main',
        allowFailure: false,
        snapshotsFrom: [],
      },
    ],
    kubernetes: [
      {
        type: 'kubernetes',
        index: 0,
        name: 'kubernetes',
        queue: 'main',
        allowFailure: false,
        snapshotsFrom: [],
        executeOnSynchronization: true,
        waitForSynchronization: true,
        watch: {
          name: 'kubernetes',
          kind: 'Pod',
          keepFullObjects: true,
          executeOnEvents: ['Added', 'Modified', 'Deleted'],
        },
      },
    ],
  });
});

test('parse() understands every field of a kubernetes binding', async () => {
  const labels = {
    matchLabels: { app: 'web', empty: '' },
    matchExpressions: [{ key: 'tier', operator: 'In', values: ['a'] }],
  };
  const config = await v1({
    kubernetes: [
      {
        name: 'pods',
        apiVersion: 'v1',
        kind: 'Pod',
        executeHookOnEvent: ['Added'],
        watchEvent: ['Deleted'],
        executeHookOnSynchronization: false,
        waitForSynchronization: false,
        keepFullObjectsInMemory: false,
        jqFilter: '.metadata.labels',
        allowFailure: true,
        resynchronizationPeriod: 'whenever',
        nameSelector: { matchNames: ['a', 'b'] },
        labelSelector: labels,
        fieldSelector: { matchExpressions: [{ field: 'status.phase', operator: '!=', value: 'Failed' }] },
        namespace: { nameSelector: { matchNames: ['x'] } },
        queue: 'pods',
        group: 'all',
        includeSnapshotsFrom: ['pods'],
      },
    ],
  });
  expect(config.kubernetes).toEqual([
    {
      type: 'kubernetes',
      index: 0,
      name: 'pods',
      queue: 'pods',
      group: 'all',
      allowFailure: true,
      snapshotsFrom: [0],
      executeOnSynchronization: false,
      waitForSynchronization: false,
      watch: {
        name: 'pods',
        apiVersion: 'v1',
        kind: 'Pod',
        keepFullObjects: false,
        executeOnEvents: ['Added'],
        jqFilter: '.metadata.labels',
        labelSelector: labels,
        nameSelector: ['a', 'b'],
        fieldSelector: [{ field: 'status.phase', operator: '!=', value: 'Failed' }],
        namespace: { nameSelector: ['x'] },
      },
    },
  ]);
});

test('parse() reads brackets and braces at any column', async () => {
  const text = 'configVersion: v1\nkubernetes: [\n{\n  kind: Pod\n}\n]\n';
  expect((await parse(text)).kubernetes).toMatchObject([{ watch: { kind: 'Pod' } }]);
});

test.each(['{"configVersion":"v1","onStartup":1}', '---\nconfigVersion: v1\nonStartup: 1\n---\n{{'])(
  'parse() skips a byte order mark before %j',
  async (text) => {
    expect((await parse(`\u{FEFF}${text}`)).lifecycle).toEqual({ onStartup: 1 });
  },
);

test('parse() reads YAML as well as JSON', async () => {
  const config = await parse('configVersion: v1\nafterHelm: 3\nschedule:\n- {name: n, crontab: "@daily"}\n');
  expect(config.lifecycle).toEqual({ afterHelm: 3 });
  expect(config.schedule[0]).toMatchObject({ name: 'n', crontab: '@daily' });
});

test.each([
  ['a second document', 'configVersion: v1\nonStartup: 1\n---\nonStartup: 2\n'],
  ['a marker before the first document', '---\nconfigVersion: v1\nonStartup: 1\n---\nonStartup: 2\n'],
  ['a second document that is no YAML', 'configVersion: v1\nonStartup: 1\n---\n{{{ : [\n'],
])('parse() takes the first document only: %s', async (_what, text) => {
  expect((await parse(text)).lifecycle).toEqual({ onStartup: 1 });
});

test('parse() lets the last of duplicate keys win', async () => {
  const config = await parse('{"configVersion":"v1","onStartup":1,"onStartup":2}');
  expect(config.lifecycle).toEqual({ onStartup: 2 });
});

test.each([1, -3, 0])('onStartup may be any integer: %j', async (onStartup) => {
  expect((await v1({ onStartup })).lifecycle).toEqual({ onStartup });
});

test('onStartup may be written as a number without fraction', async () => {
  expect((await parse('{"configVersion":"v1","onStartup":1.0}')).lifecycle).toEqual({ onStartup: 1 });
});

test('parse() says which type a wrong value has', async () => {
  expect(await problemIn(v1({ onStartup: null }))).toContain('onStartup must be of type integer: "null"');
  expect(await problemIn(v1({ onStartup: [] }))).toContain('onStartup must be of type integer: "array"');
});

test.each(['beforeHelm', 'afterHelm', 'beforeDeleteHelm', 'afterDeleteHelm'])(
  '%s belongs to module hooks and is not negative',
  async (binding) => {
    expect((await v1({ [binding]: 5 }, 'module')).lifecycle).toEqual({ [binding]: 5 });
    expect(await problemIn(v1({ [binding]: 5 }, 'global'))).toContain(
      `.${binding} is a forbidden property; allowed: `,
    );
    expect(await problemIn(v1({ [binding]: -3 }, 'module'))).toContain(`${binding} must be >= 0`);
  },
);

test.each(['beforeAll', 'afterAll'])('%s belongs to global hooks and is not negative', async (binding) => {
  expect((await v1({ [binding]: 5 }, 'global')).lifecycle).toEqual({ [binding]: 5 });
  expect(await problemIn(v1({ [binding]: 5 }, 'module'))).toContain(`.${binding} is a forbidden property`);
  expect(await problemIn(v1({ [binding]: -3 }, 'global'))).toContain(`${binding} must be >= 0`);
});

test.each(DEPLOY_BINDINGS)('%s belongs to global hooks and is not negative', async (binding) => {
  expect((await v1({ [binding]: 5 }, 'global')).lifecycle).toEqual({ [binding]: 5 });
  expect(await problemIn(v1({ [binding]: 5 }, 'module'))).toMatch(
    new RegExp(`\\.${binding} is a forbidden property.*; only global hooks have this binding$`),
  );
  expect(await problemIn(v1({ [binding]: -3 }, 'global'))).toContain(`${binding} must be >= 0`);
  expect(await problemIn(v1({ [binding]: '1' }, 'global'))).toContain(
    `${binding} must be of type integer: "string"`,
  );
});

test.each([
  [{ executionMinInterval: '3s', executionBurst: 5 }, { rateLimit: { intervalMs: 3_000, burst: 5 } }],
  [{ executionMinInterval: '1m30s', executionBurst: 0 }, { rateLimit: { intervalMs: 90_000, burst: 1 } }],
  [{ executionMinInterval: '0s', executionBurst: 5 }, {}],
  [{ executionMinInterval: '-3s', executionBurst: 5 }, {}],
  [{ timeout: '30s' }, { timeoutMs: 30_000 }],
  [{ restartOnChange: true }, { restartOnChange: true }],
  [{ restartOnChange: false }, {}],
  [{ exitCodes: { temporary: [75] } }, { exitCodes: { temporary: [75], permanent: [] } }],
  [
    { exitCodes: { permanent: [78, 2] }, statusCodes: { temporary: [503], permanent: [422] } },
    { exitCodes: { temporary: [], permanent: [78, 2] }, statusCodes: { temporary: [503], permanent: [422] } },
  ],
  [{ retry: { max: 0 } }, { retry: { max: 0, onExhausted: 'fail' } }],
  [{ retry: { within: '2h', onExhausted: 'drop' } }, { retry: { withinMs: 7_200_000, onExhausted: 'drop' } }],
])('parse() reads settings %j', async (settings, expected) => {
  expect(await v1({ settings })).toEqual({ ...NO_BINDINGS, settings: expected });
});

test.each([
  [{ waitForSynchronization: false }, true],
  [{ waitForSynchronization: false, queue: '' }, true],
  [{ waitForSynchronization: false, queue: 'main' }, false],
  [{ waitForSynchronization: false, queue: 'own' }, false],
  [{ queue: 'own' }, true],
])('waitForSynchronization counts only beside a queue: %j', async (fields, expected) => {
  const { kubernetes } = await v1({ kubernetes: [{ kind: 'Pod', ...fields }] });
  expect(kubernetes[0]?.waitForSynchronization).toBe(expected);
});

test('parse() treats empty texts as absent', async () => {
  const { kubernetes, schedule } = await v1({
    kubernetes: [{ kind: 'Pod', name: '', queue: '', group: '', apiVersion: '', jqFilter: '' }],
    schedule: [{ crontab: '* * * * *', name: '', queue: '' }],
  });
  expect(kubernetes).toEqual((await v1({ kubernetes: [{ kind: 'Pod' }] })).kubernetes);
  expect(schedule).toEqual((await v1({ schedule: [{ crontab: '* * * * *' }] })).schedule);
});

test.each([
  [{ executeHookOnEvent: [] }, []],
  [{ watchEvent: ['Deleted'] }, ['Deleted']],
  [{ watchEvent: ['Deleted'], executeHookOnEvent: ['Added'] }, ['Added']],
])('executeHookOnEvent decides which events run the hook: %j', async (fields, expected) => {
  const { kubernetes } = await v1({ kubernetes: [{ kind: 'Pod', ...fields }] });
  expect(kubernetes[0]?.watch.executeOnEvents).toEqual(expected);
});

test('a label selector for namespaces makes their name selector void', async () => {
  const labelSelector = { matchLabels: { a: 'b' } };
  const { kubernetes } = await v1({
    kubernetes: [{ kind: 'Pod', namespace: { nameSelector: { matchNames: ['a'] }, labelSelector } }],
  });
  expect(kubernetes[0]?.watch.namespace).toEqual({ labelSelector });
});

test('a binding sees its own snapshots first, then those of its group, each once', async () => {
  const { kubernetes, schedule } = await v1({
    kubernetes: [
      { kind: 'Pod', name: 'a', group: 'g' },
      { kind: 'Pod', name: 'b' },
      { kind: 'Pod', name: 'c', group: 'g', includeSnapshotsFrom: ['c', 'b'] },
    ],
    schedule: [
      { crontab: '* * * * *', group: 'g' },
      { crontab: '* * * * *', group: 'alone' },
    ],
  });
  expect(kubernetes.map((binding) => binding.snapshotsFrom)).toEqual([[0, 2], [], [2, 1, 0]]);
  expect(schedule.map((binding) => binding.snapshotsFrom)).toEqual([[0, 2], []]);
});

test.each([
  [{}, { debounce: undefined, coalesce: undefined }],
  [{ coalesce: 'none' }, { coalesce: undefined }],
  [
    { coalesce: 'object', debounce: { after: '2s' } },
    { coalesce: 'object', debounce: { afterMs: 2_000, maxMs: 20_000 } },
  ],
  [{ debounce: { after: '2s', max: '2s' } }, { debounce: { afterMs: 2_000, maxMs: 2_000 } }],
])('parse() reads what a binding does with bursts of events: %j', async (binding, expected) => {
  const { kubernetes } = await v1({ kubernetes: [{ kind: 'Pod', ...binding }] });
  expect({ debounce: kubernetes[0]?.debounce, coalesce: kubernetes[0]?.coalesce }).toMatchObject(expected);
});

test.each([
  [undefined, { queue: 'main' }],
  ['own', { queue: 'own' }],
  [{ name: 'own' }, { queue: 'own', keyed: { key: { type: 'object' }, parallel: 4 } }],
  [
    { name: 'own', key: 'namespace', parallel: 8 },
    { queue: 'own', keyed: { key: { type: 'namespace' }, parallel: 8 } },
  ],
  [
    { name: 'own', key: '.metadata.labels["app.kubernetes.io/name"]' },
    {
      queue: 'own',
      keyed: { key: { type: 'path', steps: ['metadata', 'labels', 'app.kubernetes.io/name'] }, parallel: 4 },
    },
  ],
  [
    { name: 'own', key: '.spec.containers[0].image' },
    {
      queue: 'own',
      keyed: { key: { type: 'path', steps: ['spec', 'containers', 0, 'image'] }, parallel: 4 },
    },
  ],
])('parse() reads the queue of a binding: %j', async (queue, expected) => {
  const { kubernetes } = await v1({ kubernetes: [{ kind: 'Pod', queue }] });
  expect(kubernetes[0]).toMatchObject(expected);
  expect(kubernetes[0]?.keyed).toEqual('keyed' in expected ? expected.keyed : undefined);
});
