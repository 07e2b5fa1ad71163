import { OperatorError } from '@addon-operator/base/errors';
import type { FlowHookType } from '@addon-operator/sdk';
import { FLOW_HOOK_TYPES } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import { changed, disable, flowLab } from '../../test/support/flow-lab.ts';
import { name, type OperatorLab } from '../../test/support/operator-lab.ts';
import { requestOperation, runOperation } from '../requests/request-operation.ts';
import { explanationText } from '../status/module-explanation.ts';
import { moduleStatus } from '../status/module-status.ts';
import { moduleFacts } from '../views/collect-module-facts.ts';
import { explainWhy } from '../views/explain-why.ts';

const WEB = name('web');
const PLACES = FLOW_HOOK_TYPES.filter(
  (type) => !['ShouldReconcile', 'BeforeAbort', 'BeforeForceReconcile', 'BeforeDelete', 'End'].includes(type),
);

const STATES: Readonly<Record<string, (lab: OperatorLab) => Promise<void>>> = {
  'has succeeded': async () => undefined,
  'was aborted': async (lab) => {
    lab.obstacles.set('deploy web', () => new Promise(() => undefined));
    await changed(lab);
    lab.obstacles.clear();
    requestOperation(lab.operator, WEB, 'abort');
    await lab.settle();
  },
  'failed for good': async (lab) => {
    lab.obstacles.set('deploy web', () => {
      throw new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
    });
    await changed(lab);
    lab.obstacles.clear();
  },
};

function phaseOf(lab: OperatorLab): string | undefined {
  const [facts] = moduleFacts(lab.operator);
  const context = { nowMs: 0, operator: 'ns/cm', generation: 1, before: undefined };
  return facts && moduleStatus(facts, context).phase;
}

const putOffOnce = (afterMs?: number) => {
  let isPutOff = false;
  return () => {
    if (isPutOff) return undefined;
    isPutOff = true;
    return { abortReconcile: true, ...(afterMs !== undefined && { requeueAfterMs: afterMs }) };
  };
};

const CASES = PLACES.flatMap((type) =>
  Object.keys(STATES).map((state): [FlowHookType, string] => [type, state]),
);

test.each(CASES)(
  'a change that a hook at %s puts off is applied later, when the module %s',
  async (type, state) => {
    await using flow = await flowLab();
    const { lab } = flow;
    await lab.converge();
    await STATES[state]?.(lab);
    lab.takeCalls();
    flow.responses = { [type]: putOffOnce(3_000) };
    await changed(lab);
    expect([lab.takeCalls(), phaseOf(lab)]).toEqual([[], 'Init']);
    await lab.clock.advance(3_000);
    await lab.settle();
    expect([lab.takeCalls(), phaseOf(lab)]).toEqual([['deploy web'], 'Succeeded']);
  },
);

test.each(CASES)(
  'a reconcile that a hook at %s puts off is done later, when the module %s',
  async (type, state) => {
    await using flow = await flowLab();
    const { lab } = flow;
    await lab.converge();
    await STATES[state]?.(lab);
    lab.takeCalls();
    flow.responses = { [type]: putOffOnce(3_000) };
    requestOperation(lab.operator, WEB, 'reconcile');
    await lab.settle();
    expect([lab.takeCalls(), phaseOf(lab)]).toEqual([[], 'Init']);
    await lab.clock.advance(3_000);
    await lab.settle();
    expect([lab.takeCalls(), phaseOf(lab)]).toEqual([['deploy web'], 'Succeeded']);
  },
);

test('a change that no look follows is visible, with the reason', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  flow.responses = { Start: putOffOnce() };
  await changed(lab);
  expect(moduleFacts(lab.operator)[0]?.explanation.waitsFor).toEqual([
    'another reconcile: a flow hook ended the last one before all changes and requests were handled',
  ]);
});

test('a module that failed for good is Init for hooks, when it was changed', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  await STATES['failed for good']?.(lab);
  const phases: unknown[] = [];
  flow.responses = {
    BeforeAnyReconcile: ({ module }) => {
      phases.push(module?.phase);
      return undefined;
    },
  };
  await changed(lab);
  expect(phases).toEqual(['Init']);
});

test('a deletion that a hook puts off is visible and goes on later', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  flow.responses = { BeforeDelete: putOffOnce(3_000) };
  await disable(lab, 'web');
  expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([true, 'Deleting']);
  await lab.clock.advance(3_000);
  await lab.settle();
  expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([false, undefined]);
});

test('the deletion of a module that never ran here is visible and goes on, when a hook puts it off', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  lab.releases.add('web');
  lab.enabled.delete('web');
  flow.responses = { Start: putOffOnce(3_000) };
  await lab.converge();
  expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([true, 'Deleting']);
  await lab.clock.advance(3_000);
  await lab.settle();
  expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([false, undefined]);
});

const OF_RECONCILES = ['reconcile', 'force-reconcile'] as const;

test.each(OF_RECONCILES)(
  'a deletion that a hook ended without a time is done after a %s',
  async (operation) => {
    await using flow = await flowLab();
    const { lab } = flow;
    await lab.converge();
    flow.responses = { BeforeDelete: putOffOnce() };
    await disable(lab, 'web');
    expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([true, 'Deleting']);
    expect(requestOperation(lab.operator, WEB, operation)).toBe('deleting');
    await lab.settle();
    expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([false, undefined]);
  },
);

test.each(OF_RECONCILES)(
  'a deletion of a module that never ran here is done after a %s',
  async (operation) => {
    await using flow = await flowLab();
    const { lab } = flow;
    lab.releases.add('web');
    lab.enabled.delete('web');
    flow.responses = { Start: putOffOnce() };
    await lab.converge();
    expect(requestOperation(lab.operator, WEB, operation)).toBe('deleting');
    await lab.settle();
    expect(lab.releases.has('web')).toBe(false);
  },
);

test('an annotation has a deletion done that a hook ended without a time', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  flow.responses = { BeforeDelete: putOffOnce() };
  await disable(lab, 'web');
  runOperation(lab.operator, WEB, 'reconcile');
  await lab.settle();
  expect(lab.releases.has('web')).toBe(false);
});

test('a request while a deletion waits for its retry has it tried at once', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.obstacles.set('uninstall web', () => {
    throw new Error('not now');
  });
  await disable(lab, 'web');
  lab.obstacles.clear();
  expect(requestOperation(lab.operator, WEB, 'reconcile')).toBe('deleting');
  await lab.settle();
  expect(lab.releases.has('web')).toBe(false);
});

test('an abort of a deletion that a hook ended changes nothing, and is not kept for the next one', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  flow.responses = { BeforeDelete: putOffOnce() };
  await disable(lab, 'web');
  expect(requestOperation(lab.operator, WEB, 'abort')).toBe('requested');
  await lab.settle();
  expect([lab.releases.has('web'), phaseOf(lab)]).toEqual([true, 'Deleting']);
  expect(requestOperation(lab.operator, WEB, 'reconcile')).toBe('deleting');
  await lab.settle();
  expect(lab.releases.has('web')).toBe(false);
});

test('what explains a deletion that a hook ended names the command that starts it again, and no other', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  flow.responses = { BeforeDelete: putOffOnce() };
  await disable(lab, 'web');
  const explanation = explainWhy(lab.operator, 'web', []);
  const text = explanation === undefined ? '' : explanationText(explanation);
  expect(text.match(/^(?:held up by|to fix it|waits for) .*$/gmu)).toEqual([
    'held up by   a flow hook ended its deletion',
    'to fix it    start it again with `addon-operator module reconcile web`',
    'waits for    another reconcile: a flow hook ended the last one before all changes and requests were handled',
  ]);
  expect(moduleFacts(lab.operator)[0]?.explanation.causes).toMatchObject([
    { reason: 'DeletionPutOff', isStalled: true, until: null },
  ]);
});

test('the deletion of a paused module that a hook ended is visible as well', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.pauses.set('web', { reason: 'work', sinceMs: 0, untilMs: undefined });
  flow.responses = { BeforeDelete: putOffOnce(3_000) };
  await disable(lab, 'web');
  expect(moduleFacts(lab.operator)[0]?.explanation.causes).toMatchObject([
    { reason: 'DeletionPutOff', isStalled: false, until: '1970-01-01T00:00:03.000Z' },
  ]);
});

test('an abort that a hook puts off is done later, and not as a run', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.obstacles.set('deploy web', () => new Promise(() => undefined));
  await changed(lab);
  lab.obstacles.clear();
  lab.takeCalls();
  flow.responses = { BeforeAbort: putOffOnce(3_000) };
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  await lab.clock.advance(3_000);
  await lab.settle();
  expect([lab.takeCalls(), phaseOf(lab)]).toEqual([[], 'Failed']);
});

test('a change that comes while an abort is being done is applied after it', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.obstacles.set('deploy web', () => new Promise(() => undefined));
  await changed(lab);
  lab.obstacles.clear();
  lab.takeCalls();
  flow.responses = {
    BeforeAbort: () => {
      lab.operator.router.queueModuleRun(WEB, 'later change');
      return undefined;
    },
  };
  requestOperation(lab.operator, WEB, 'abort');
  await lab.settle();
  expect([lab.takeCalls(), phaseOf(lab)]).toEqual([['deploy web'], 'Succeeded']);
});

test('a command survives a hook that denies the responsibility for a moment', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  await lab.converge();
  lab.takeCalls();
  flow.responses = { DuringResponsibilityCheck: putOffOnce(3_000) };
  requestOperation(lab.operator, WEB, 'force-reconcile');
  await lab.settle();
  await lab.clock.advance(3_000);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['force web']);
});

test.each([[Number.MAX_SAFE_INTEGER], [Number.POSITIVE_INFINITY]])(
  'a hook that requests another reconcile in %s ms gets one within a year, and the status stays readable',
  async (requeueAfterMs) => {
    await using flow = await flowLab(['web', 'z']);
    const { lab } = flow;
    flow.responses = { End: () => ({ requeueAfterMs }) };
    await lab.converge();
    expect(moduleFacts(lab.operator).map(({ explanation }) => explanation.nextReconcileAt)).toEqual([
      '1971-01-01T00:00:00.000Z',
      '1971-01-01T00:00:00.000Z',
    ]);
  },
);

test('a module that has to wait for ages is tried again within a year', async () => {
  await using flow = await flowLab();
  const { lab } = flow;
  lab.obstacles.set('deploy web', () => {
    throw new OperatorError('RELEASE_BLOCKED', 'why', { retryAfterMs: Number.MAX_SAFE_INTEGER });
  });
  await lab.converge();
  expect(moduleFacts(lab.operator)[0]?.explanation.failure?.nextAttemptAt).toBe('1971-01-01T00:00:00.000Z');
});

test('a module whose state cannot be described says so, and the others show theirs', async () => {
  await using flow = await flowLab(['web', 'z']);
  const { lab } = flow;
  await lab.converge();
  const history = lab.operator.registry.track(WEB)?.history;
  Object.defineProperty(history, 'lastRun', {
    get: () => {
      throw new RangeError('Invalid time value');
    },
  });
  const [web, z] = moduleFacts(lab.operator).map(({ explanation: { status, failure } }) => [status, failure]);
  expect(web).toMatchObject([
    'failing',
    { code: 'INTERNAL', error: expect.stringContaining('Invalid time value') },
  ]);
  expect(z).toEqual(['ready', null]);
});
