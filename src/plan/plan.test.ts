import { expect, test } from 'vitest';
import { NO_BINDINGS, v1 } from '../../test/support/hook-configs.ts';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import type { HookConfig } from '../hook-config/hook-config.ts';
import type { Hook, HookOwner } from '../hooks/hook.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { parseModuleName } from '../modules/module-name.ts';
import type { ReconcileWebhook } from '../modules/reconcile-webhook.ts';
import {
  errorOf,
  hooksOrNone,
  type ModulePlan,
  NOTHING,
  outcomeOf,
  type PlannedAction,
  plannedHooks,
  plannedHttpHook,
  runsBeforeHelm,
} from './plan.ts';

const signal = new AbortController().signal;
const OF_MODULE: HookOwner = { type: 'module', module: parseModuleName('web') };

const hookWith = (config: HookConfig, owner: HookOwner = OF_MODULE): Hook => ({
  name: 'hooks/a.sh',
  path: '/modules/030-web/hooks/a.sh',
  transport: 'executable',
  owner,
  config,
});
const planOf = (action: PlannedAction, more: Partial<ModulePlan> = {}): ModulePlan => ({
  ...NOTHING,
  module: 'web',
  action,
  isEnabled: true,
  reason: '',
  ...more,
});

const WITHOUT_CHANGE: readonly PlannedAction[] = ['none', 'hold', 'stay-off', 'wait', 'refuse'];
const WITH_CHANGE: readonly PlannedAction[] = [
  'install',
  'upgrade',
  'apply-crds',
  'delete',
  'orphan',
  'purge',
];

test.each([
  ...WITHOUT_CHANGE.map((action) => ({ action, outcome: 'nothing' })),
  ...WITH_CHANGE.map((action) => ({ action, outcome: 'changes' })),
])('outcomeOf() a plan to $action is $outcome', ({ action, outcome }) => {
  expect(outcomeOf({ globalHooks: [], modules: [planOf(action)], problems: [] })).toBe(outcome);
});

test.each([
  { what: 'nothing', modules: [], problems: [], outcome: 'nothing' },
  { what: 'one of several', modules: [planOf('none'), planOf('install')], problems: [], outcome: 'changes' },
  { what: 'a problem', modules: [planOf('install')], problems: ['no access'], outcome: 'unknown' },
  {
    what: 'an error of a module',
    modules: [planOf('none', { error: 'no' })],
    problems: [],
    outcome: 'unknown',
  },
])('outcomeOf() a plan with $what is $outcome', ({ modules, problems, outcome }) => {
  expect(outcomeOf({ globalHooks: [], modules, problems })).toBe(outcome);
});

test('plannedHooks() lists when hooks run, in the order of a start, and those of a deletion only then', async () => {
  const config = await v1({
    onStartup: 5,
    beforeHelm: 10,
    afterDeleteHelm: 20,
    schedule: [{ crontab: '0 * * * *' }],
    kubernetes: [{ name: 'pods', apiVersion: 'v1', kind: 'Pod' }],
  });
  const hooks = [hookWith(config), hookWith(NO_BINDINGS)];
  expect(plannedHooks(hooks, 'run')).toEqual([
    {
      hook: 'hooks/a.sh',
      when: ['onStartup 5', 'beforeHelm 10', 'kubernetes pods (Pod)', 'schedule 0 * * * *'],
    },
  ]);
  expect(plannedHooks(hooks, 'deletion')).toEqual([{ hook: 'hooks/a.sh', when: ['afterDeleteHelm 20'] }]);
});

test('plannedHooks() lists the bindings that only global hooks have', async () => {
  const config = await v1({ beforeAll: 1, afterAll: 2 }, 'global');
  expect(plannedHooks([hookWith(config, { type: 'global' })], 'run')).toEqual([
    { hook: 'hooks/a.sh', when: ['beforeAll 1', 'afterAll 2'] },
  ]);
});

test.each<{ what: string; config: object; isGlobal?: true; runs: boolean }>([
  { what: 'onStartup', config: { onStartup: 1 }, runs: true },
  { what: 'beforeAll', config: { beforeAll: 1 }, isGlobal: true, runs: true },
  { what: 'beforeHelm', config: { beforeHelm: 1 }, runs: true },
  { what: 'afterHelm', config: { afterHelm: 1 }, runs: false },
  { what: 'a schedule', config: { schedule: [{ crontab: '0 * * * *' }] }, runs: false },
  { what: 'a Synchronization', config: { kubernetes: [{ kind: 'Pod' }] }, runs: true },
  {
    what: 'events only',
    config: { kubernetes: [{ kind: 'Pod', executeHookOnSynchronization: false }] },
    runs: false,
  },
])('runsBeforeHelm() of a hook with $what is $runs', async ({ config, isGlobal, runs }) => {
  expect(runsBeforeHelm(hookWith(await v1(config, isGlobal ? 'global' : 'module')))).toBe(runs);
});

test('plannedHttpHook() names the address, and only where the webhook is called for that', () => {
  const hook: ReconcileWebhook = {
    address: { type: 'url', url: new URL('https://web.example/hook?token=secret') },
    timeoutMs: 1_000,
    capabilities: ['finalize'],
    definition: {},
  };
  const module = moduleNamed('web', { manifest: { ...NO_MANIFEST, hook } });
  expect(plannedHttpHook(module, 'finalize')).toEqual([
    { hook: 'HTTP hook https://web.example/hook', when: ['finalize'] },
  ]);
  expect(plannedHttpHook(module, 'pre-reconcile')).toEqual([]);
  expect(plannedHttpHook(moduleNamed('web'), 'finalize')).toEqual([]);
});

test('errorOf() joins problems', () => {
  expect(errorOf([])).toEqual({});
  expect(errorOf(['one', 'two'])).toEqual({ error: 'one; two' });
});

test('hooksOrNone() notes what cannot be loaded, but not that it was aborted', async () => {
  const problems: string[] = [];
  const fails = () => Promise.reject(new Error('no hook'));
  expect(await hooksOrNone(fails, problems, signal)).toEqual([]);
  expect(problems).toEqual(['no hook']);
  await expect(hooksOrNone(fails, problems, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  expect(problems).toHaveLength(1);
});
