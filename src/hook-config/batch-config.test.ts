import { hasCode } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { parseBatchConfig } from './batch-config.ts';
import type { HookScope } from './binding-kinds.ts';
import { HookConfigParser } from './parse-hook-config.ts';

const parser = new HookConfigParser({
  crontab: (expression) => {
    if (expression === 'never') throw new Error('expected 5 or 6 fields');
  },
  jqFilter: async () => undefined,
});

const parse = (document: unknown, scope: HookScope = 'module') =>
  parseBatchConfig(
    typeof document === 'string' ? document : JSON.stringify(document),
    scope,
    parser,
    'web-readiness',
  );

async function problemIn(document: unknown, scope?: HookScope): Promise<string> {
  const error: unknown = await parse(document, scope).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw new Error(`parsed, or failed with ${String(error)}`);
  return error.message;
}

const hook = (name: string, bindings: object) => ({
  configVersion: 'v1',
  metadata: { name, path: `hooks/${name}.go` },
  ...bindings,
});

test('parseBatchConfig() keeps the order of the hooks, whose names need not be different', async () => {
  const hooks = [hook('main', { beforeHelm: 5 }), hook('main', { afterHelm: 1 })];
  const { hooks: parsed, ...rest } = await parse({ version: 'v1', hooks });
  expect(parsed).toMatchObject([
    { name: 'main', config: { version: 'v1', lifecycle: { beforeHelm: 5 } } },
    { name: 'main', config: { lifecycle: { afterHelm: 1 } } },
  ]);
  expect(rest).toEqual({ hasSettingsCheck: false });
});

test('parseBatchConfig() reads the older bare list of hooks', async () => {
  const { hooks } = await parse([hook('one', { onStartup: 3 }), hook('two', { onStartup: 1 })]);
  expect(hooks.map(({ name, config }) => [name, config.lifecycle.onStartup])).toEqual([
    ['one', 3],
    ['two', 1],
  ]);
});

test('parseBatchConfig() reads bindings as the SDK prints them', async () => {
  const { hooks } = await parse({
    version: 'v1',
    hooks: [
      hook('nodes', {
        schedule: [{ name: 'often', crontab: '*/10 * * * * *', queue: '/modules/web' }],
        kubernetes: [
          {
            name: 'nodes',
            apiVersion: 'v1',
            kind: 'Node',
            labelSelector: {},
            jqFilter: '.metadata.name',
            executeHookOnEvent: false,
            executeHookOnSynchronization: false,
            waitForSynchronization: false,
            queue: 'nodes',
          },
          { name: 'pods', kind: 'Pod', executeHookOnEvent: true, allowFailure: true },
        ],
        settings: { executionMinInterval: 3_000_000_000, executionBurst: 2, enableSchedulesOnStartup: true },
        logLevel: 'INFO',
      }),
    ],
  });
  expect(hooks[0]?.config).toMatchObject({
    schedule: [{ name: 'often', crontab: '*/10 * * * * *', queue: '/modules/web', group: 'main' }],
    kubernetes: [
      {
        name: 'nodes',
        group: 'main',
        queue: 'nodes',
        snapshotsFrom: [0, 1],
        executeOnSynchronization: false,
        waitForSynchronization: false,
        watch: { keepFullObjects: false, executeOnEvents: [], jqFilter: '.metadata.name' },
      },
      {
        name: 'pods',
        group: 'main',
        queue: 'main',
        allowFailure: true,
        watch: { keepFullObjects: true, executeOnEvents: ['Added', 'Modified', 'Deleted'] },
      },
    ],
    settings: { rateLimit: { intervalMs: 3_000, burst: 2 } },
  });
});

test('parseBatchConfig() gives allowFailure of a hook to its bindings that say nothing else', async () => {
  const bindings = [{ kind: 'Pod' }, { kind: 'Node', allowFailure: false }];
  const { hooks } = await parse([hook('one', { allowFailure: true, kubernetes: bindings })]);
  expect(hooks[0]?.config.kubernetes.map(({ allowFailure }) => allowFailure)).toEqual([true, false]);
});

test('parseBatchConfig() accepts a hook without bindings, and a file without hooks', async () => {
  const { hooks, hasSettingsCheck } = await parse({
    version: 'v1',
    hooks: [hook('idle', {})],
    has_settings_check: true,
  });
  expect(hooks[0]?.config).toMatchObject({ lifecycle: {}, schedule: [], kubernetes: [] });
  expect(hasSettingsCheck).toBe(true);
  expect(await parse({ version: 'v1', hooks: null })).toEqual({ hooks: [], hasSettingsCheck: false });
});

test('beforeHelm and afterHelm of a global hook run before and after all modules', async () => {
  const { hooks } = await parse([hook('all', { beforeHelm: 5, afterHelm: 6 })], 'global');
  expect(hooks[0]?.config.lifecycle).toEqual({ beforeAll: 5, afterAll: 6 });
});

test('the readiness probe has a queue of its own, and a failed run is not retried', async () => {
  const schedule = [{ name: 'web-moduleReadinessSchedule', crontab: '*/5 * * * * *' }];
  const { readiness } = await parse({ version: 'v1', hooks: [], readiness: { schedule } });
  expect(readiness?.schedule).toMatchObject([
    { name: 'readiness', crontab: '*/5 * * * * *', queue: 'web-readiness', allowFailure: true },
  ]);
  const { readiness: byDefault } = await parse({ version: 'v1', hooks: [], readiness: {} });
  expect(byDefault?.schedule).toMatchObject([{ crontab: '*/15 * * * * *' }]);
});

test('problems have the index and the name of their hook, all at once', async () => {
  const hooks = [hook('fine', { onStartup: 1 }), hook('bad', { onStartup: 'soon', often: 1 }), 7];
  const problem = await problemIn({ version: 'v1', hooks, readiness: { schedule: [{ crontab: 'never' }] } });
  expect(problem.split('\n')).toEqual([
    '4 error(s) occurred:',
    expect.stringMatching(/^ \* hooks\[1\] 'bad': \.often is a forbidden property/),
    ` * hooks[1] 'bad': onStartup must be of type integer: "string"`,
    ' * hooks[2]: expected an object',
    ' * readiness: invalid schedule config [0]: crontab is invalid: expected 5 or 6 fields',
  ]);
});

test.each([
  ['rubbish', 'hello', 'not JSON'],
  ['another version', { version: 'v2', hooks: [] }, `version "v2": known is 'v1'`],
  ['no version', { hooks: [] }, `version is missing: known is 'v1'`],
  ['another configVersion', [{ ...hook('a', {}), configVersion: 'v3' }], `'configVersion' value 'v3'`],
  ['hooks that are no list', { version: 'v1', hooks: {} }, 'hooks: expected a list'],
  ['a text', '"text"', 'an object or a list of hooks is expected'],
  ['a name with a line end', [hook('a\nb', {})], 'metadata.name is too long or has control characters'],
])('%s is refused', async (_what, document, problem) => {
  expect(await problemIn(document)).toContain(problem);
});
