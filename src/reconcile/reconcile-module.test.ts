import { OperatorError } from '@addon-operator/base/errors';
import { FLOW_HOOK_TYPES } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import { changed, disable, flowLab, recheck } from '../../test/support/flow-lab.ts';
import { failing, moduleFor, name, operatorLab } from '../../test/support/operator-lab.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import { requestOperation } from '../requests/request-operation.ts';

const WEB = name('web');

const WAY = ['Start -', 'DuringResponsibilityCheck web', 'AfterResponsibilityCheck web'];
const TO_STEP = [...WAY, 'ShouldReconcile web', 'BeforeAnyReconcile web'];

test('a run passes all places once, also when it waits for Synchronizations on the way', async () => {
  await using flow = await flowLab(['web'], {
    'web/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }], beforeHelm: 1 },
  });
  await flow.lab.converge();
  expect(flow.said).toEqual([...TO_STEP, 'BeforeReconcile web', 'End web']);
  expect(flow.lab.operator.registry.tracked.get(WEB)?.phase).toBe('ready');
});

test.each(
  FLOW_HOOK_TYPES.filter((type) => type !== 'ShouldReconcile' && type !== 'End').map((type) => [type]),
)('an abort at %s ends the reconcile there, and what the hook wants for later holds', async (type) => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  const places = {
    BeforeAbort: () => requestOperation(lab.operator, WEB, 'abort'),
    BeforeForceReconcile: () => requestOperation(lab.operator, WEB, 'force-reconcile'),
    BeforeDelete: () => {
      lab.enabled.delete('web');
      lab.operator.router.restartConverge('ReloadAllModules', 'test');
    },
  } as const;
  flow.said.splice(0);
  lab.takeCalls();
  flow.responses = { [type]: () => ({ abortReconcile: true, requeueAfterMs: 9_000 }) };
  if (type in places) places[type as keyof typeof places]();
  else lab.operator.router.queueModuleRun(WEB, 'test');
  await lab.settle();
  expect(flow.said.at(-1)).toBe(`${type} ${type === 'Start' ? '-' : 'web'}`);
  expect(lab.takeCalls().filter((call) => /deploy|force|uninstall/.test(call))).toEqual([]);
  flow.responses = {};
  flow.said.splice(0);
  await lab.clock.advance(9_000);
  await lab.settle();
  expect(flow.said[0]).toBe('Start -');
});

test('without a change a hook can enforce a reconcile, and only then it is one', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  await recheck(lab);
  flow.responses = { ShouldReconcile: () => ({ abortReconcile: true }) };
  await recheck(lab);
  expect(lab.takeCalls()).toEqual([]);
  flow.responses = { ShouldReconcile: () => ({ abortReconcile: false }) };
  await recheck(lab);
  expect(lab.takeCalls()).toEqual(['force web']);
});

test('what is necessary cannot be stopped by ShouldReconcile', async () => {
  await using flow = await flowLab();
  flow.responses = { ShouldReconcile: () => ({ abortReconcile: true }) };
  await flow.lab.converge();
  expect(flow.lab.takeCalls()).toContain('deploy web');
  expect(flow.said.at(-1)).toBe('End web');
});

test('a change that a hook has deferred is applied by the recheck that it requested', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  flow.responses = { BeforeReconcile: () => ({ abortReconcile: true, requeueAfterMs: 9_000 }) };
  await changed(lab);
  expect(lab.takeCalls()).toEqual([]);
  flow.responses = {};
  await lab.clock.advance(9_000);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['deploy web']);
  await recheck(lab);
  expect(lab.takeCalls()).toEqual([]);
});

test('DuringResponsibilityCheck says who is responsible, for every decision', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  lab.flaggedOff.add('web');
  await changed(lab);
  expect(lab.takeCalls()).toEqual([]);
  flow.responses = { DuringResponsibilityCheck: () => ({ abortReconcile: false }) };
  await changed(lab);
  expect(lab.takeCalls()).toEqual(['deploy web']);
});

test('a hook that fails ends the reconcile with its error, which is tried again, and nothing is requeued', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  flow.responses = {
    Start: () => ({ requeueAfterMs: 1 }),
    BeforeReconcile: () => {
      throw new Error('no thanks');
    },
  };
  await lab.converge();
  expect(lab.main.entries[0]).toMatchObject({
    failures: 1,
    lastError: 'A flow hook of type BeforeReconcile failed: no thanks',
  });
  expect(lab.calls).not.toContain('deploy web');
  expect(lab.clock.pendingDelaysMs).toEqual([5_000]);
});

test('End runs after the step has returned, with the reason for its failure', async () => {
  await using flow = await flowLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  flow.lab.behaviours.set('web/a.sh', failing);
  await flow.lab.converge();
  expect(flow.said.at(-1)).toMatch(/^End web \(run hooks by binding beforeHelm: .*hook is broken/);
});

test('a requeue at once reconciles again, without a change', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  let times = 0;
  flow.responses = { End: () => ({ requeue: (times += 1) === 1 }), ShouldReconcile: () => ({}) };
  await lab.converge();
  await lab.clock.advance(0);
  await lab.settle();
  expect(lab.calls.filter((call) => / web/.test(call))).toEqual(['config web', 'deploy web', 'force web']);
});

test('the requeue of a module that is disabled is forgotten', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  flow.responses = { End: () => ({ requeueAfterMs: 60_000 }) };
  await lab.converge();
  flow.responses = {};
  await disable(lab, 'web');
  flow.said.splice(0);
  await lab.clock.advance(60_000);
  await lab.settle();
  expect(flow.said).toEqual([]);
});

test('operations that are requested are done once, forced ones with force', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  flow.said.splice(0);
  requestOperation(lab.operator, WEB, 'reconcile');
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['deploy web']);
  expect(flow.said).toEqual([...TO_STEP, 'BeforeReconcile web', 'End web']);
  requestOperation(lab.operator, WEB, 'force-reconcile');
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['force web']);
  await recheck(lab);
  expect(lab.takeCalls()).toEqual([]);
});

test('a forced run that a hook puts off is forced when it comes', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  flow.responses = { BeforeForceReconcile: () => ({ abortReconcile: true, requeueAfterMs: 9_000 }) };
  requestOperation(lab.operator, WEB, 'force-reconcile');
  await lab.settle();
  flow.responses = {};
  await lab.clock.advance(9_000);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['force web']);
});

test('End reports a deletion that failed, too', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.obstacles.set('uninstall web', () => {
    throw new Error('no way');
  });
  await disable(lab, 'web');
  expect(flow.said.at(-1)).toBe('End web (no way)');
});

test('a forced run that fails is forced again', async () => {
  await using lab = await operatorLab(['web'], { 'web/a.sh': { beforeHelm: 1 } });
  await lab.converge();
  lab.behaviours.set('web/a.sh', failing);
  requestOperation(lab.operator, WEB, 'force-reconcile');
  await lab.settle();
  lab.behaviours.clear();
  lab.takeCalls();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['web/a.sh beforeHelm', 'force web']);
});

test('an abort ends what runs, the module counts as failed, those behind it go on, and the next change runs it', async () => {
  await using flow = await flowLab(['web', 'z']);
  const { lab } = flow;
  lab.obstacles.set('deploy web', () => new Promise(() => undefined));
  await lab.converge();
  expect(lab.calls.at(-1)).toBe('deploy web');
  lab.obstacles.clear();
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('deploy z');
  expect(lab.operator.converge.first).toBe('done');
  expect(flow.said).toContain('BeforeAbort web');
  expect(lab.operator.registry.tracked.get(WEB)).toMatchObject({
    stall: { error: 'The run of module "web" was aborted on request' },
    history: { lastRun: { result: 'failure' } },
  });
  await lab.clock.advance(600_000);
  lab.takeCalls();
  await changed(lab);
  expect(lab.takeCalls()).toEqual(['deploy web']);
  expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeUndefined();
});

test('an abort ends a run that waits for its next attempt, and one that waits for Synchronizations', async () => {
  await using lab = await operatorLab(['a', 'b'], {
    'a/hook.sh': { beforeHelm: 1 },
    'b/hook.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] },
  });
  lab.behaviours.set('a/hook.sh', failing);
  lab.behaviours.set('b/hook.sh', failing);
  await lab.converge();
  requestOperation(lab.operator, name('a'), 'abort');
  await lab.settle();
  expect(lab.calls.at(-1)).toBe('b/hook.sh Synchronization:pods');
  requestOperation(lab.operator, name('b'), 'abort');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.operator.registry.tracked.get(name('b'))?.stall).toBeDefined();
});

test('an abort of a paused module ends what runs, and not the run that follows the pause', async () => {
  await using lab = await operatorLab(['web'], {});
  lab.obstacles.set('deploy web', () => new Promise(() => undefined));
  await lab.converge();
  lab.obstacles.clear();
  lab.pauses.set('web', { reason: 'disks', sinceMs: 0, untilMs: undefined });
  expect(requestOperation(lab.operator, WEB, 'reconcile')).toBe('paused');
  expect(requestOperation(lab.operator, WEB, 'abort')).toBe('requested');
  await lab.settle();
  expect(lab.operator.converge.first).toBe('done');
  lab.takeCalls();
  lab.pauses.clear();
  onPausesChange(lab.operator);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['deploy web']);
  expect(lab.operator.registry.tracked.get(WEB)?.phase).toBe('ready');
});

test('a request for a disabled module is refused, and dropped if the module is disabled before it is done', async () => {
  await using lab = await operatorLab(['web'], {});
  await lab.converge();
  lab.enabled.delete('web');
  lab.flaggedOff.add('web');
  requestOperation(lab.operator, WEB, 'force-reconcile');
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(requestOperation(lab.operator, WEB, 'reconcile')).toBe('disabled');
  expect(lab.operator.operations.of(WEB)).toBeUndefined();
});

test('to abort where nothing is going on changes nothing', async () => {
  await using lab = await operatorLab(['web'], {});
  await lab.converge();
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  expect(lab.operator.registry.tracked.get(WEB)?.stall).toBeUndefined();
  expect(lab.log.records).toContainEqual(expect.objectContaining({ msg: 'Nothing to abort' }));
});

const PERMANENT = new OperatorError('HELM_FAILED', 'never', { isPermanent: true });

function refuse(): never {
  throw PERMANENT;
}

test('a run that fails for good is not tried again, holds up only what requires it, and is run after a change', async () => {
  const requires = [{ name: WEB, version: undefined, isOptional: false }];
  const needy = moduleFor('z-needy', 3);
  const modules = [
    moduleFor('web', 1),
    moduleFor('other', 2),
    { ...needy, manifest: { ...needy.manifest, requires } },
  ];
  await using lab = await operatorLab(modules, {});
  lab.obstacles.set('deploy web', refuse);
  await lab.converge();
  await lab.clock.advance(600_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('deploy'))).toEqual(['deploy web', 'deploy other']);
  expect(lab.operator.converge.first).toBe('done');
  expect(lab.operator.registry.tracked.get(name('z-needy'))?.history.lastError).toBe(
    'Module "z-needy" requires "web", which failed permanently: never',
  );
  lab.obstacles.clear();
  lab.takeCalls();
  await changed(lab);
  expect(lab.takeCalls()).toEqual(['deploy web', 'config z-needy', 'deploy z-needy']);
});

test('a deletion that fails for good is tried again every five minutes', async () => {
  await using lab = await operatorLab(['web'], {});
  await lab.converge();
  lab.obstacles.set('uninstall web', refuse);
  await disable(lab, 'web');
  expect(lab.clock.pendingDelaysMs).toEqual([300_000]);
  lab.obstacles.clear();
  await lab.clock.advance(300_000);
  await lab.settle();
  expect(lab.releases.has('web')).toBe(false);
});
