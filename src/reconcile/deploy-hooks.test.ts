import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import { failing, moduleFor, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { deployedModule } from './deploy-hooks.ts';

const never = new AbortController().signal;
const ALL = Object.fromEntries(DEPLOY_BINDINGS.map((binding) => [binding, 1]));
const MODULE_HOOK = { onStartup: 1, beforeHelm: 1, afterHelm: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 };
const REFUSAL = { place: 'manifest', policy: 'digest', reason: 'web is not in the lock file' } as const;

function deployCalls(lab: OperatorLab): readonly string[] {
  return lab.calls.filter((call) => call.startsWith('global/'));
}

async function disable(lab: OperatorLab, module: string): Promise<void> {
  lab.enabled.delete(module);
  lab.operator.router.queueConverge('GlobalValuesChanged', 'test');
  await lab.settle();
}

test('hooks of a deploy run around the hooks of the module and helm, by number and name', async () => {
  await using lab = await operatorLab(['web'], {
    'global/b.sh': ALL,
    'global/a.sh': { ...ALL, afterInstall: 2 },
    'web/m.sh': MODULE_HOOK,
  });
  await lab.converge();
  expect(lab.calls.filter((call) => call !== 'discover' && !call.startsWith('config'))).toEqual([
    'web/m.sh onStartup',
    'global/a.sh beforeInstall',
    'global/b.sh beforeInstall',
    'web/m.sh beforeHelm',
    'global/b.sh afterInstall',
    'global/a.sh afterInstall',
    'global/a.sh beforeLaunch',
    'global/b.sh beforeLaunch',
    'deploy web',
    'global/a.sh afterLaunch',
    'global/b.sh afterLaunch',
    'web/m.sh afterHelm',
  ]);
});

test('a removal is reported when the release is gone, before afterDeleteHelm hooks', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': ALL, 'web/m.sh': MODULE_HOOK });
  await lab.converge();
  lab.takeCalls();
  let contexts: unknown;
  lab.behaviours.set('global/a.sh', (hook) => {
    contexts = hook.contexts;
  });
  await disable(lab, 'web');
  expect(lab.calls.filter((call) => call !== 'discover')).toEqual([
    'web/m.sh beforeDeleteHelm',
    'uninstall web',
    'global/a.sh beforeUninstall',
    'web/m.sh afterDeleteHelm',
  ]);
  expect(contexts).toEqual([
    {
      binding: 'beforeUninstall',
      module: { name: 'web', path: '/modules/web' },
      release: { previousRevision: 1 },
      attempt: 1,
      snapshots: {},
    },
  ]);
});

test('a removal that failed after the release was gone is reported when it is repeated', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': ALL, 'web/m.sh': { afterDeleteHelm: 1 } });
  await lab.converge();
  lab.takeCalls();
  lab.obstacles.set('uninstall web', () => {
    lab.releases.delete('web');
    throw new Error('no answer');
  });
  await disable(lab, 'web');
  expect(deployCalls(lab)).toEqual([]);
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.slice(-2)).toEqual(['global/a.sh beforeUninstall', 'web/m.sh afterDeleteHelm']);
});

test('a release that stays is no removal', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeUninstall: 1 } });
  await lab.converge();
  lab.foreignReleases.add('web');
  await disable(lab, 'web');
  expect(lab.calls).toContain('uninstall web');
  expect(deployCalls(lab)).toEqual([]);
});

test('contexts say which module, release and attempt it is', async () => {
  const web = moduleFor('web', 1, { version: '1.2.0' });
  await using lab = await operatorLab([web], { 'global/a.sh': ALL });
  const seen: unknown[] = [];
  lab.behaviours.set('global/a.sh', ({ contexts }) => {
    seen.push(...contexts);
  });
  lab.obstacles.set('deploy web', () => {
    if (seen.length < 4) throw new Error('no such image');
  });
  await lab.converge();
  await lab.clock.advance(5_000);
  await lab.settle();
  const facts = (attempt: number) => ({
    module: { name: 'web', path: '/modules/web', version: '1.2.0' },
    release: { previousRevision: 0 },
    attempt,
    snapshots: {},
  });
  expect(seen).toEqual([
    { binding: 'beforeInstall', ...facts(1) },
    { binding: 'afterInstall', ...facts(1) },
    { binding: 'beforeLaunch', ...facts(1) },
    { binding: 'beforeInstall', ...facts(2) },
    { binding: 'afterInstall', ...facts(2) },
    { binding: 'beforeLaunch', ...facts(2) },
    { binding: 'afterLaunch', ...facts(2), release: { previousRevision: 0, revision: 1 } },
  ]);
});

test('a module without a chart has no deploy', async () => {
  await using lab = await operatorLab([moduleFor('web', 1, { chart: 'none' })], { 'global/a.sh': ALL });
  await lab.converge();
  await disable(lab, 'web');
  expect(deployCalls(lab)).toEqual([]);
});

test('hooks that fail do not matter, and are reported with the module', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': ALL, 'global/b.sh': ALL });
  lab.behaviours.set('global/a.sh', failing);
  await lab.converge();
  expect(lab.operator.converge.first).toBe('done');
  expect(deployCalls(lab)).toHaveLength(8);
  const failures = lab.log.records.filter(({ msg }) => msg === 'Deploy hook failed, the deploy continues');
  expect(failures.map(({ binding }) => binding)).toEqual(DEPLOY_BINDINGS.slice(0, 4));
  expect(failures[0]).toMatchObject({ level: 'error', hook: 'a.sh', module: 'web', queue: 'main' });
});

test.each([
  ['values', 'VALUES_JSON_PATCH_PATH', { op: 'add', path: '/global/a', value: 1 }],
  ['config values', 'CONFIG_VALUES_JSON_PATCH_PATH', { op: 'add', path: '/global/a', value: 1 }],
  ['enabled flags', 'VALUES_JSON_PATCH_PATH', { op: 'add', path: '/webEnabled', value: false }],
])('a hook that changes %s changes nothing at all', async (_what, variable, patch) => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeInstall: 1 } });
  lab.behaviours.set('global/a.sh', ({ write }) => {
    write(variable, patch);
    write('KUBERNETES_PATCH_PATH', { operation: 'Delete', kind: 'Pod', name: 'p' });
  });
  await lab.converge();
  expect(lab.values.globalValues()).not.toHaveProperty('a');
  expect(lab.calls.filter((call) => /^(patch|save)/.test(call))).toEqual([]);
  expect(lab.calls).toContain('deploy web');
  expect(
    lab.log.records.find(({ msg }) => msg === 'Deploy hook failed, the deploy continues')?.['error'],
  ).toBe(
    "global hook 'a.sh': it changes values, which is not allowed for beforeInstall, so none of its output is applied: change values for a schedule or kubernetes binding",
  );
});

test('operations on objects are applied', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { afterLaunch: 1 } });
  lab.behaviours.set('global/a.sh', ({ write }) => {
    write('KUBERNETES_PATCH_PATH', { operation: 'Delete', kind: 'Pod', name: 'p' });
  });
  await lab.converge();
  expect(lab.calls).toContain('patch Delete');
});

test('without deploy hooks nothing is called', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { onStartup: 1, afterAuthFail: 1 } });
  lab.obstacles.set('revision web', () => {
    throw new Error('somebody asked');
  });
  await lab.converge();
  await disable(lab, 'web');
  expect(lab.calls).toContain('uninstall web');
});

test('a refusal is reported at once within a deploy', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': ALL });
  const run = { activation: '', queue: 'main', task: {}, attempt: 1 };
  let contexts: unknown;
  lab.behaviours.set('global/a.sh', (hook) => {
    contexts = hook.contexts;
  });
  await lab.operator.deployHooks.notifyOfRefusal(deployedModule(moduleFor('web')), REFUSAL, run, never);
  expect(contexts).toEqual([
    {
      binding: 'afterAuthFail',
      module: { name: 'web', path: '/modules/web' },
      authorization: REFUSAL,
      snapshots: {},
    },
  ]);
});

test('a refusal outside of a deploy is reported as soon as queues run, also while main is held up', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': ALL, 'global/b.sh': { onStartup: 1 } });
  lab.behaviours.set('global/a.sh', failing);
  lab.obstacles.set('discover', () => {
    throw new Error('no answer');
  });
  lab.operator.deployHooks.queueUnauthorized(deployedModule(moduleFor('web')), REFUSAL);
  await lab.settle();
  expect(deployCalls(lab)).toEqual([]);
  await lab.converge();
  expect(deployCalls(lab)).toEqual(['global/a.sh afterAuthFail']);
  expect(lab.tasks('authorization')).toEqual([]);
});

test('without a hook for refusals there is no queue for them', async () => {
  await using lab = await operatorLab(['web'], { 'global/a.sh': { beforeInstall: 1 } });
  lab.operator.deployHooks.queueUnauthorized(deployedModule(moduleFor('web')), REFUSAL);
  expect(lab.operator.queues.all.map((queue) => queue.name)).not.toContain('authorization');
});
