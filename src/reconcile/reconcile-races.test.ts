import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { changed, disable, flowLab, recheck } from '../../test/support/flow-lab.ts';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import { requestOperation } from '../requests/request-operation.ts';
import { moduleFacts } from '../views/collect-module-facts.ts';

const WEB = name('web');

function deploysOf(lab: OperatorLab): readonly string[] {
  return lab.takeCalls().filter((call) => /^(?:deploy|force) web/.test(call));
}

test('an abort that comes when a run has just come to its end ends no later one', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  flow.responses = {
    End: () => {
      flow.responses = {};
      requestOperation(lab.operator, WEB, 'abort');
      return undefined;
    },
  };
  await lab.converge();
  lab.takeCalls();
  await changed(lab);
  expect(deploysOf(lab)).toEqual(['deploy web']);
  expect(lab.operator.operations.of(WEB)).toBeUndefined();
});

test('a request for a module that is being deleted is not done when it is enabled again', async () => {
  await using lab = await operatorLab(['web'], {});
  await lab.converge();
  lab.obstacles.set('uninstall web', () => {
    lab.operator.operations.request(WEB, 'abort');
  });
  await disable(lab, 'web');
  lab.takeCalls();
  lab.enabled.add('web');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(deploysOf(lab)).toEqual(['deploy web']);
});

test('an abort is not forgotten because a hook fails at it', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  lab.obstacles.set('deploy web', () => new Promise(() => undefined));
  await lab.converge();
  lab.obstacles.clear();
  flow.responses = {
    BeforeAbort: () => {
      throw new Error('not now');
    },
  };
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  flow.responses = {};
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(deploysOf(lab)).toEqual([]);
  expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeDefined();
});

test('a run that replaces an abort while a reconcile begins is done, also when a hook fails then', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  flow.responses = {
    Start: () => {
      requestOperation(lab.operator, WEB, 'reconcile');
      return undefined;
    },
    BeforeAnyReconcile: () => {
      throw new Error('not now');
    },
  };
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  flow.responses = {};
  await lab.pass(5_000, 1);
  expect(deploysOf(lab)).toEqual(['deploy web']);
  expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeUndefined();
});

test('values that an afterHelm hook changed are applied, also when nothing had changed before', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { afterHelm: 1 } });
  await lab.converge();
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/size', value: 1 });
  });
  lab.takeCalls();
  requestOperation(lab.operator, WEB, 'reconcile');
  await lab.settle();
  expect(deploysOf(lab)).toEqual(['deploy web', 'deploy web {"size":1}']);
});

test('a changed section is taken over although the module waits to be looked at', async () => {
  await using lab = await operatorLab(['a', 'web'], { 'a/a.sh': { beforeHelm: 1 } });
  await lab.converge();
  lab.behaviours.set('a/a.sh', failing);
  lab.operator.router.queueModuleRun(name('a'), 'test');
  await recheck(lab);
  lab.takeCalls();
  lab.main.prepend({ type: 'ApplyKubeConfigValues', changedKeys: ['web' as never], trigger: 'test' });
  lab.behaviours.clear();
  lab.main.cutDelay();
  await lab.settle();
  expect(deploysOf(lab)).toEqual(['deploy web']);
});

test('a module that has to wait after it had failed for good counts as tried again', async () => {
  await using lab = await operatorLab(['web'], {});
  lab.obstacles.set('deploy web', () => {
    throw new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
  });
  await lab.converge();
  lab.obstacles.set('deploy web', () => {
    throw new OperatorError('RELEASE_NOT_READY', 'not yet', { retryAfterMs: 1_000 });
  });
  await changed(lab);
  expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeUndefined();
});

test('an abort reaches a run that waits for Synchronizations after the module had failed for good', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  for (let time = 0; time < 2; time += 1) {
    requestOperation(lab.operator, WEB, 'abort');
    await lab.settle();
    expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeDefined();
    expect(lab.tasks()).toEqual([]);
    await changed(lab);
    expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeUndefined();
  }
});

test('a deletion outside of a converge does not keep its module from being enabled again', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { afterDeleteHelm: 1 } });
  lab.enabled.delete('web');
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  lab.main.append({ type: 'ModuleDelete', module: WEB, trigger: 'Module-Object-Held' });
  await lab.settle();
  expect(lab.main.entries[0]).toMatchObject({ failures: 1 });
  lab.enabled.add('web');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.tasks()).toEqual([]);
  expect(lab.operator.registry.tracked.get(WEB)?.phase).toBe('ready');
});

test('a module that a hook wants to look at is not deleted twice', async () => {
  await using flow = await flowLab(['web'], { 'web/a.sh': { afterDeleteHelm: 1 } });
  const { lab } = flow;
  flow.responses = { End: () => ({ requeueAfterMs: 1_000 }) };
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  await disable(lab, 'web');
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.clock.advance(600_000);
  await lab.settle();
  expect(lab.takeCalls().filter((call) => call.startsWith('web/a.sh'))).toEqual(['web/a.sh afterDeleteHelm']);
});

test('a deletion that is aborted is put off for as long where it is isolated', async () => {
  await using lab = await operatorLab(['web'], {}, { failurePolicy: 'isolate' });
  await lab.converge();
  lab.obstacles.set('uninstall web', () => {
    requestOperation(lab.operator, WEB, 'abort');
    throw new Error('it was told to end');
  });
  await disable(lab, 'web');
  expect(lab.tasks('isolated_web')).toHaveLength(1);
  expect(lab.clock.pendingDelaysMs).toEqual([300_000]);
});

test('a run that waits for Synchronizations in isolation ends when its module is disabled', async () => {
  const hooks = { 'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] } };
  await using lab = await operatorLab(['web'], hooks, { failurePolicy: 'isolate' });
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  expect(lab.tasks('isolated_web')).toHaveLength(2);
  await disable(lab, 'web');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.tasks('isolated_web')).toEqual([]);
  expect(lab.operator.registry.started.has(WEB)).toBe(false);
});

test('a request is done by the run that waits for Synchronizations', async () => {
  const hooks = { 'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] } };
  await using lab = await operatorLab(['web'], hooks);
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  requestOperation(lab.operator, WEB, 'force-reconcile');
  lab.behaviours.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(deploysOf(lab)).toEqual(['force web']);
  expect(lab.operator.operations.of(WEB)).toBeUndefined();
});

test('a module whose run waited for Synchronizations when it was paused waits for its end', async () => {
  const hooks = { 'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] } };
  await using lab = await operatorLab(['web'], hooks);
  lab.behaviours.set('web/a.sh', failing);
  await lab.converge();
  lab.pauses.set('web', { reason: 'disks', sinceMs: 0, untilMs: undefined });
  lab.behaviours.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(moduleFacts(lab.operator)).toMatchObject([{ progress: 'pending' }]);
  lab.pauses.clear();
  onPausesChange(lab.operator);
  await lab.settle();
  expect(deploysOf(lab)).toEqual(['deploy web']);
});
