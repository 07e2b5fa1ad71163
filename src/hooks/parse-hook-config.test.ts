import { expect, test } from 'vitest';
import { parseCrontab } from '../events/schedule/crontab.ts';
import { hasCode } from '../lib/errors.ts';
import type { HookConfig } from './hook-config.ts';
import { HookConfigParser } from './parse-hook-config.ts';

const parser = new HookConfigParser({
  crontab: (expression) => {
    parseCrontab(expression);
  },
  jqFilter: async (program) => {
    if (program.includes('[') && !program.includes(']')) throw new Error('unexpected end of program');
  },
});

type Scope = 'global' | 'module';

const parse = (config: object | string, scope: Scope = 'module'): Promise<HookConfig> =>
  parser.parse(typeof config === 'string' ? config : JSON.stringify(config), scope);

/** Parses a v1 configuration, given without its version. */
const v1 = (config: object, scope: Scope = 'module'): Promise<HookConfig> =>
  parse({ configVersion: 'v1', ...config }, scope);

async function problemIn(parsing: Promise<unknown>): Promise<string> {
  const error = await parsing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw new Error(`accepted, or failed with ${String(error)}`);
  return error.message;
}

test('parse() fills in the defaults of a minimal configuration', async () => {
  const config = await v1({
    onStartup: 10,
    schedule: [{ crontab: '* * * * *' }],
    kubernetes: [{ kind: 'Pod' }],
  });
  expect(config).toEqual({
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
    settings: {},
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

test.each([
  ['no version', '{"onStartup":1}', "write 'configVersion: v1'"],
  ['no output', '', "write 'configVersion: v1'"],
  ['another version', '{"configVersion":"v2"}', "config version: 'configVersion' value 'v2' is unsupported"],
  ['null as version', '{"configVersion":null}', "config version: missing 'configVersion' value"],
  ['a number as version', '{"configVersion":1}', "string value is expected for key 'configVersion'"],
  ['a list', '[1]', 'config unmarshal: a mapping is expected at the top level'],
  ['a text', 'hello', 'config unmarshal: a mapping is expected at the top level'],
  ['rubbish', '{', 'config unmarshal: '],
  ['a line before the JSON', 'starting up\n{"configVersion":"v1","onStartup":1}', 'config unmarshal: '],
  ['nothing but the version', '{"configVersion":"v1"}', 'config should have at least 2 properties'],
])('parse() refuses %s', async (_what, text, problem) => {
  expect(await problemIn(parse(text))).toContain(problem);
});

test.each([
  [1.0, true],
  [-3, true],
  [0, true],
  [1.5, false],
  ['1', false],
  [null, false],
])('parse() checks that onStartup is an integer: %j', async (onStartup, isAccepted) => {
  if (isAccepted) expect((await v1({ onStartup })).lifecycle).toEqual({ onStartup });
  else expect(await problemIn(v1({ onStartup }))).toContain('onStartup must be of type integer');
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

test.each(['kubernetesValidating', 'kubernetesMutating', 'kubernetesCustomResourceConversion'])(
  'parse() says that %s is not supported',
  async (binding) => {
    const problem = await problemIn(v1({ [binding]: [{ name: 'a.b.c' }] }));
    expect(problem).toContain(`.${binding} is not supported yet: webhooks are not served`);
  },
);

test.each([
  [
    'the top level',
    { onStartup: 1, foo: 1 },
    '.foo is a forbidden property; allowed: configVersion, onStartup',
  ],
  [
    'a schedule',
    { schedule: [{ crontab: '* * * * *', foo: 1 }] },
    'schedule.foo is a forbidden property; allowed: name, allowFailure, queue, group, includeSnapshotsFrom, crontab',
  ],
  ['a binding', { kubernetes: [{ kind: 'Pod', mode: 'x' }] }, 'kubernetes.mode is a forbidden property'],
  [
    'a selector',
    { kubernetes: [{ kind: 'Pod', namespace: { any: true } }] },
    'kubernetes.namespace.any is a forbidden property; allowed: nameSelector, labelSelector',
  ],
  [
    'settings',
    { settings: { executionMinPeriod: '3s', executionMinInterval: '3s', executionBurst: 1 } },
    'settings.executionMinPeriod is a forbidden property',
  ],
])('parse() refuses unknown keys and names the allowed ones: %s', async (_where, config, problem) => {
  expect(await problemIn(v1(config))).toContain(problem);
});

test('parse() lists all problems at once', async () => {
  const problem = await problemIn(v1({ foo: 1, schedule: [{ allowFailure: 'false' }], kubernetes: [] }));
  expect(problem).toMatch(/^4 error\(s\) occurred:\n( \* .*\n?){4}$/);
  expect(problem).toContain(' * schedule.crontab is required');
  expect(problem).toContain(' * schedule.allowFailure must be of type boolean: "string"');
  expect(problem).toContain(' * kubernetes should have at least 1 items');
});

test.each([
  ['no schedules', { schedule: [] }, 'schedule should have at least 1 items'],
  ['an empty crontab', { schedule: [{ crontab: '' }] }, 'invalid schedule config [0]: crontab is invalid: '],
  ['a day that is none', { schedule: [{ crontab: '0 0 * * 7' }] }, 'crontab is invalid: '],
  ['days in @every', { schedule: [{ crontab: '@every 1d' }] }, 'crontab is invalid: '],
  ['@reboot', { schedule: [{ crontab: '@reboot' }] }, 'crontab is invalid: '],
  ['a time zone', { schedule: [{ crontab: 'CRON_TZ=UTC * * * * *' }] }, 'crontab is invalid: '],
  ['no kind', { kubernetes: [{ name: 'x' }] }, 'kubernetes.kind is required'],
  ['an empty kind', { kubernetes: [{ kind: '' }] }, 'kubernetes.kind '],
  [
    'unknown events',
    { kubernetes: [{ kind: 'Pod', executeHookOnEvent: ['Created'] }] },
    'kubernetes.executeHookOnEvent should be one of [Added Modified Deleted]',
  ],
  [
    'a bare name as snapshots',
    { kubernetes: [{ kind: 'Pod', includeSnapshotsFrom: 'kubernetes' }] },
    'kubernetes.includeSnapshotsFrom must be of type array: "string"',
  ],
  [
    'an empty list of snapshots',
    { kubernetes: [{ kind: 'Pod', includeSnapshotsFrom: [] }] },
    'kubernetes.includeSnapshotsFrom should have at least 1 items',
  ],
  [
    'an unknown snapshot',
    { schedule: [{ crontab: '* * * * *', includeSnapshotsFrom: ['nope'] }] },
    "invalid schedule config [0]: includeSnapshotsFrom: 'nope' binding name not found",
  ],
  [
    'an ambiguous snapshot',
    { kubernetes: [{ kind: 'Pod' }, { kind: 'Node', includeSnapshotsFrom: ['kubernetes'] }] },
    "invalid kubernetes config [1]: includeSnapshotsFrom: there are 2 'kubernetes' binding names",
  ],
  [
    'a filter that does not compile',
    { kubernetes: [{ kind: 'Pod', jqFilter: '.a[' }] },
    'invalid kubernetes config [0]: jqFilter: compile jqFilter: unexpected end',
  ],
  [
    'an API version with two slashes',
    { kubernetes: [{ kind: 'Pod', apiVersion: 'a/b/c' }] },
    "apiVersion is invalid: 'a/b/c'",
  ],
  [
    'names twice over',
    {
      kubernetes: [
        {
          kind: 'Pod',
          nameSelector: { matchNames: ['a'] },
          fieldSelector: { matchExpressions: [{ field: 'metadata.name', operator: '=', value: 'a' }] },
        },
      ],
    },
    "fieldSelector 'metadata.name' and nameSelector are mutually exclusive",
  ],
  [
    'a bare list of names',
    { kubernetes: [{ kind: 'Pod', namespace: { nameSelector: ['x'] } }] },
    'kubernetes.namespace.nameSelector must be of type object: "array"',
  ],
  [
    'an incomplete field selector',
    { kubernetes: [{ kind: 'Pod', fieldSelector: { matchExpressions: [{ field: 'a', operator: '=' }] } }] },
    'kubernetes.fieldSelector.matchExpressions.value is required',
  ],
  [
    'an unknown field operator',
    {
      kubernetes: [
        { kind: 'Pod', fieldSelector: { matchExpressions: [{ field: 'a', operator: '~', value: '' }] } },
      ],
    },
    'should be one of [= == Equals != NotEquals]',
  ],
  [
    'an empty label selector',
    { kubernetes: [{ kind: 'Pod', labelSelector: {} }] },
    'kubernetes.labelSelector should have at least 1 properties',
  ],
  [
    'In without values',
    { kubernetes: [{ kind: 'Pod', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
    "labelSelector is invalid: key 'a': In needs values",
  ],
  [
    'Exists with values',
    {
      kubernetes: [
        {
          kind: 'Pod',
          namespace: {
            labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
          },
        },
      ],
    },
    "labelSelector is invalid: key 'a': Exists takes no values",
  ],
  ['empty settings', { settings: {} }, 'settings should have at least 1 properties'],
  ['no burst', { settings: { executionMinInterval: '3s' } }, 'settings.executionBurst is required'],
  ['no interval', { settings: { executionBurst: 1 } }, 'settings.executionMinInterval is required'],
  [
    'a number as interval',
    { settings: { executionMinInterval: 3, executionBurst: 1 } },
    'settings.executionMinInterval must be of type string: "number"',
  ],
  [
    'an interval without unit',
    { settings: { executionMinInterval: '3', executionBurst: 1 } },
    'settings.executionMinInterval is invalid: ',
  ],
  [
    'an empty interval',
    { settings: { executionMinInterval: '', executionBurst: 1 } },
    'settings.executionMinInterval is invalid: ',
  ],
  [
    'a negative burst',
    { settings: { executionMinInterval: '3s', executionBurst: -1 } },
    'settings.executionBurst must be >= 0',
  ],
  ['a time limit without unit', { settings: { timeout: '30' } }, 'settings.timeout is invalid: '],
])('parse() refuses %s', async (_what, config, problem) => {
  expect(await problemIn(v1(config))).toContain(problem);
});

test.each([
  [{ executionMinInterval: '3s', executionBurst: 5 }, { rateLimit: { minIntervalMs: 3_000, burst: 5 } }],
  [{ executionMinInterval: '1m30s', executionBurst: 0 }, { rateLimit: { minIntervalMs: 90_000, burst: 1 } }],
  [{ executionMinInterval: '0s', executionBurst: 5 }, {}],
  [{ executionMinInterval: '-3s', executionBurst: 5 }, {}],
  [{ timeout: '30s' }, { timeoutMs: 30_000 }],
])('parse() reads settings %j', async (settings, expected) => {
  expect(await v1({ settings })).toEqual({
    lifecycle: {},
    schedule: [],
    kubernetes: [],
    settings: expected,
  });
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
