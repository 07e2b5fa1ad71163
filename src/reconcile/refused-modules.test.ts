import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { failing, moduleFor, operatorLab } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { requestOperation } from '../requests/request-operation.ts';
import type { Authorization } from './verify-module.ts';

const REFUSED = 'Module is not authorized and does not run';
const evil = moduleFor('evil', 1, {
  refusal: { type: 'unauthorized', reason: 'it is not signed' },
  chart: 'none',
});
const allow: Authorization = { policy: 'keyring', verify: () => Promise.resolve() };
const HOOKS = {
  'global/watch.sh': { afterAuthFail: 1 },
  'evil/hook.sh': { onStartup: 1 },
  'web/hook.sh': { beforeHelm: 1, afterHelm: 1 },
};

test('nothing of a module that is not authorized is run, and it is reported once for each reason', async () => {
  await using lab = await operatorLab([evil, moduleFor('web', 2)], HOOKS, { authorization: allow });
  lab.withCrds.add('evil');
  const contexts: unknown[] = [];
  lab.behaviours.set('global/watch.sh', (hook) => {
    contexts.push(...hook.contexts);
  });
  await lab.converge();
  expect(lab.calls.filter((call) => call.includes('evil'))).toEqual([]);
  expect(lab.calls).toContain('deploy web');
  const facts = { place: 'manifest', policy: 'keyring', reason: 'it is not signed' };
  const context = {
    binding: 'afterAuthFail',
    module: { name: 'evil', path: '/modules/evil' },
    authorization: facts,
    snapshots: {},
  };
  expect(contexts).toEqual([context]);
  const reload = async (): Promise<void> => {
    lab.operator.router.restartConverge('ReloadAllModules', 'test');
    await lab.settle();
  };
  await reload();
  expect(contexts).toHaveLength(1);
  lab.operator.registry.setModules([
    { ...evil, refusal: { type: 'unauthorized', reason: 'no key' } },
    moduleFor('web', 2),
  ]);
  await reload();
  expect(contexts.slice(1)).toEqual([{ ...context, authorization: { ...facts, reason: 'no key' } }]);
  expect(lab.log.records.filter(({ msg }) => msg === REFUSED)).toHaveLength(2);
});

test.each(['config a', 'monitor a/hook.sh/pods', 'a/hook.sh onStartup'])(
  'a run in which a module is refused ends after what is in progress: %s',
  async (step) => {
    const [a, b] = [moduleFor('a', 1), moduleFor('b', 1)];
    const hooks = {
      'a/hook.sh': { onStartup: 1, kubernetes: [{ kind: 'Pod', name: 'pods' }], beforeHelm: 1 },
    };
    await using lab = await operatorLab([a, b], hooks, {
      authorization: allow,
      runsModulesInParallel: true,
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    lab.obstacles.set(step, () => promise);
    lab.behaviours.set('a/hook.sh', () => (step.endsWith('onStartup') ? promise : undefined));
    const converged = lab.converge();
    await lab.settle();
    lab.takeCalls();
    lab.obstacles.set('reload modules', () =>
      lab.operator.registry.setModules([
        { ...a, refusal: { type: 'unauthorized', reason: 'it was changed' }, chart: 'none' },
        b,
      ]),
    );
    lab.main.prepend({ type: 'ReloadFiles', saved: [], trigger: 'test' });
    await lab.settle();
    resolve();
    await converged;
    await lab.settle();
    expect(lab.calls.filter((call) => call.includes('a/') || call.endsWith(' a'))).toEqual([]);
    expect([...lab.monitors.values()].every((monitor) => monitor.isStopped)).toBe(true);
    expect(lab.operator.registry.tracked.get(a.name)?.hooks).toBeUndefined();
  },
);

test('no operation is noted for a module that is not authorized', async () => {
  await using lab = await operatorLab([evil], {}, { authorization: allow });
  await lab.converge();
  expect(requestOperation(lab.operator, 'evil', 'abort')).toBe('unauthorized');
  expect(lab.operator.operations.of(evil.name)).toBeUndefined();
});

test('an operation on a module that is only disabled because it is not authorized names the authorization', async () => {
  await using lab = await operatorLab([evil], {}, { authorization: allow });
  lab.enabled.delete('evil');
  await lab.converge();
  const { discovery } = lab.operator.registry;
  const decision = { isEnabled: false, source: 'authorization', reason: 'unsigned' } as const;
  if (discovery !== undefined)
    lab.operator.registry.setDiscovery({ ...discovery, decisions: new Map([[evil.name, decision]]) });
  expect(requestOperation(lab.operator, 'evil', 'reconcile')).toBe('unauthorized');
});

test('a module that is not authorized is not deleted, though it is disabled', async () => {
  await using lab = await operatorLab([evil], {}, { authorization: allow });
  lab.releases.add('evil');
  lab.enabled.delete('evil');
  await lab.converge();
  expect(lab.calls.filter((call) => call.includes('evil'))).toEqual([]);
});

test('a module is checked again before it is deployed, and stalled when it does not pass', async () => {
  const verify = (): Promise<void> =>
    Promise.reject(new OperatorError('MODULE_UNAUTHORIZED', 'it was changed', { isPermanent: true }));
  await using lab = await operatorLab(['web', 'db'], HOOKS, { authorization: { ...allow, verify } });
  const contexts: unknown[] = [];
  lab.behaviours.set('global/watch.sh', (hook) => {
    contexts.push(...hook.contexts.map((context) => context['authorization']));
  });
  await lab.converge();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual([]);
  expect(lab.calls).toContain('web/hook.sh beforeHelm');
  expect(lab.calls).not.toContain('web/hook.sh afterHelm');
  const failure = { place: 'installation', policy: 'keyring', reason: 'it was changed' };
  expect(contexts).toEqual([failure, failure]);
  expect(lab.operator.router.main.entries).toEqual([]);
});

test('a failing afterAuthFail hook changes nothing about a refusal', async () => {
  await using lab = await operatorLab([evil, moduleFor('web', 2)], HOOKS, { authorization: allow });
  lab.behaviours.set('global/watch.sh', failing);
  await lab.converge();
  expect(lab.calls.filter((call) => call.includes('evil'))).toEqual([]);
  expect(lab.calls).toContain('deploy web');
});

test('a policy that cannot be called is no refusal', async () => {
  const verify = (): Promise<void> => Promise.reject(new OperatorError('KUBE_UNREACHABLE', 'no answer'));
  await using lab = await operatorLab(['web'], HOOKS, { authorization: { ...allow, verify } });
  await lab.converge();
  expect(lab.calls.filter((call) => call.startsWith('global/watch.sh'))).toEqual([]);
  expect(lab.main.entries[0]).toMatchObject({ failures: 1, lastError: 'no answer' });
});

test.each(['delete', 'orphan'] as const)(
  'a module that lost its authorization keeps what it has when it is disabled, with the policy %s',
  async (deletionPolicy) => {
    const web = moduleFor('web', 1, { manifest: { ...NO_MANIFEST, deletionPolicy } });
    const hooks = { 'web/hook.sh': { beforeHelm: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 } };
    let isRevoked = false;
    const revocable: Authorization = {
      policy: 'digest',
      verify: async ({ name }) => {
        if (isRevoked && name === 'web')
          throw new OperatorError('MODULE_UNAUTHORIZED', 'Module web is not authorized: it is not listed', {
            cause: new Error('it is not listed'),
          });
      },
    };
    await using lab = await operatorLab([web, moduleFor('z', 2)], hooks, { authorization: revocable });
    await lab.converge();
    isRevoked = true;
    lab.enabled.delete('web');
    lab.takeCalls();
    lab.startOver();
    await lab.settle();
    expect(lab.takeCalls().filter((call) => call.includes('web'))).toEqual([]);
    expect(lab.releases.has('web')).toBe(true);
    expect(lab.operator.registry.refusals.get(web.name)).toBe('it is not listed');
    expect(lab.main.entries).toEqual([]);
  },
);
