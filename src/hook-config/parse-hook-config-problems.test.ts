import { expect, test } from 'vitest';
import { parse, problemIn, v1 } from '../../test/support/hook-configs.ts';

test.each([
  ['no output', '', 'config should have at least 1 properties'],
  ['another version', '{"configVersion":"v2"}', "config version: 'configVersion' value 'v2' is unsupported"],
  ['null as version', '{"configVersion":null}', "config version: missing 'configVersion' value"],
  ['a number as version', '{"configVersion":1}', "string value is expected for key 'configVersion'"],
  ['a list', '[1]', 'config unmarshal: a mapping is expected at the top level'],
  ['a text', 'hello', 'config unmarshal: a mapping is expected at the top level'],
  [
    'a tab as indentation',
    'configVersion: v1\nschedule:\n- name: n\n\tcrontab: x',
    'config unmarshal: tab characters must not be used in indentation: write spaces (4:1)',
  ],
  ['rubbish', '{', 'config unmarshal: '],
  ['a line before the JSON', 'starting up\n{"configVersion":"v1","onStartup":1}', 'config unmarshal: '],
  [
    'FAULT-D8: a list that would stop the event loop',
    `onStartup: [${'{},'.repeat(400_000)}1]`,
    'config unmarshal: too large: more than 600000 lines, commas, colons and opening brackets',
  ],
  [
    'FAULT-D8: a scalar of more than 10 million characters',
    `onStartup: ${'a'.repeat(10_000_000)}`,
    'config unmarshal: too large: 10000011 characters, at most 10000000 are read',
  ],
  [
    'FAULT-G3: aliases that multiply',
    `a0: &a0 [x]\n${Array.from({ length: 60 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
    'config unmarshal: too large once aliases are written out',
  ],
  ['an alias of itself', 'a: &a [*a]', 'config unmarshal: '],
  ['nothing but the version', '{"configVersion":"v1"}', 'config should have at least 2 properties'],
])('parse() refuses %s', async (_what, text, problem) => {
  expect(await problemIn(parse(text))).toContain(problem);
});

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
  [
    'a misspelt key',
    { configVersion: 'v1', onStratup: 1 },
    '.onStratup is a forbidden property (did you mean "onStartup"?); allowed: ',
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

test.each(['__proto__', 'constructor', 'toString'])('parse() refuses the unknown key %s', async (key) => {
  expect(await problemIn(parse(`{"configVersion":"v1","onStartup":1,"${key}":{"a":1}}`))).toContain(
    `.${key} is a forbidden property; allowed: `,
  );
  expect(
    await problemIn(parse(`{"configVersion":"v1","schedule":[{"crontab":"@daily","${key}":1}]}`)),
  ).toContain(`schedule.${key} is a forbidden property`);
});

test('parse() lists all problems at once', async () => {
  const problem = await problemIn(v1({ foo: 1, schedule: [{ allowFailure: 'false' }], kubernetes: [] }));
  expect(problem).toMatch(/^4 error\(s\) occurred:\n( \* .*\n?){4}$/);
  expect(problem).toContain(' * schedule.crontab is required');
  expect(problem).toContain(' * schedule.allowFailure must be of type boolean: "string"');
  expect(problem).toContain(' * kubernetes should have at least 1 items');
});

test('a broken part does not hide what else is wrong', async () => {
  const problem = await problemIn(
    v1({
      schedule: [{ crontab: 'x' }, { crontab: '* * * * *', queue: 1 }, { crontab: 'y' }],
      kubernetes: [
        { kind: 1, name: 'pods' },
        { kind: 'Pod', includeSnapshotsFrom: ['pods', 'nope'] },
      ],
      settings: { timeout: 'soon' },
    }),
  );
  expect(problem.split('\n')).toEqual([
    '6 error(s) occurred:',
    ' * schedule.queue must be of type string or object: "number"',
    ' * kubernetes.kind must be of type string: "number"',
    expect.stringContaining(' * invalid schedule config [0]: crontab is invalid: '),
    expect.stringContaining(' * invalid schedule config [2]: crontab is invalid: '),
    " * invalid kubernetes config [1]: includeSnapshotsFrom: 'nope' binding name not found",
    expect.stringContaining(' * settings.timeout is invalid: '),
  ]);
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
  [1.5, 'number'],
  ['1', 'string'],
  [null, 'null'],
  [[], 'array'],
])('parse() refuses %j as order of onStartup and names its type', async (onStartup, type) => {
  expect(await problemIn(v1({ onStartup }))).toContain(`onStartup must be of type integer: "${type}"`);
});

test.each([
  [{ exitCodes: {} }, 'settings.exitCodes should have at least 1 properties'],
  [{ exitCodes: { temporary: [0] } }, 'settings.exitCodes.temporary must be >= 1'],
  [{ exitCodes: { permanent: [256] } }, 'settings.exitCodes.permanent must be <= 255'],
  [
    { exitCodes: { temporary: [75, 78], permanent: [78] } },
    'settings.exitCodes: 78 is both temporary and permanent',
  ],
  [{ statusCodes: { temporary: [200] } }, 'settings.statusCodes.temporary must be >= 400'],
  [{ retry: { onExhausted: 'drop' } }, 'settings.retry'],
  [{ retry: { max: -1 } }, 'settings.retry.max must be >= 0'],
  [{ retry: { max: 1, onExhausted: 'stop' } }, 'settings.retry.onExhausted should be one of [fail drop]'],
  [{ retry: { within: 'long' } }, "settings.retry.within is invalid: 'long' is not a duration"],
  [{ retry: { within: '0s' } }, "settings.retry.within is invalid: '0s' is not longer than nothing"],
])('parse() refuses the settings %j', async (settings, problem) => {
  expect(await problemIn(v1({ settings }))).toContain(problem);
});

test.each([
  [{ debounce: {} }, 'kubernetes.debounce.after is required'],
  [{ debounce: { after: 'soon' } }, "debounce.after is invalid: 'soon' is not a duration"],
  [{ debounce: { after: '0s' } }, "debounce.after is invalid: '0s' is not longer than nothing"],
  [
    { debounce: { after: '2s', max: '1s' } },
    "debounce.max is invalid: '1s' is shorter than debounce.after, '2s'",
  ],
  [{ coalesce: 'key' }, 'kubernetes.coalesce should be one of [none object]'],
  [{ queue: { key: 'namespace' } }, 'kubernetes.queue.name is required'],
  [{ queue: { name: 'own', parallel: 0 } }, 'kubernetes.queue.parallel must be >= 1'],
  [
    { queue: { name: 'own', keys: 'x' } },
    'kubernetes.queue.keys is a forbidden property (did you mean "key"?)',
  ],
  [{ queue: { name: 'main' } }, "queue.name is invalid: 'main' has no keys, since modules run there"],
  [
    { queue: { name: 'own', key: 'metadata.name' } },
    'queue.key is invalid: \'metadata.name\' is neither object nor namespace nor a path such as .metadata.labels["app"]',
  ],
  [
    { queue: { name: 'own', key: '.spec.node' }, keepFullObjectsInMemory: false },
    "queue.key is invalid: '.spec.node' needs the object, which keepFullObjectsInMemory: false does not keep",
  ],
])('parse() refuses the binding %j', async (binding, problem) => {
  expect(await problemIn(v1({ kubernetes: [{ kind: 'Pod', ...binding }] }))).toContain(problem);
});
