import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { FlowPass } from '../extensions/flow/flow-pass.ts';
import { type ReconcileStep, TrackedModule } from './tracked-module.ts';

const STALL = { error: 'never', isByRequirement: false };

const reconcileWith = (step: ReconcileStep) => ({
  task: {},
  step,
  operation: undefined,
  flow: new FlowPass(undefined),
});

function readyModule(): TrackedModule {
  const tracked = new TrackedModule(moduleFor('web'));
  tracked.apply({ type: 'hooks-loaded', hooks: [] });
  for (const type of ['startup-done', 'monitors-started', 'synchronized'] as const) tracked.apply({ type });
  tracked.apply({ type: 'run-succeeded', isRepeated: false });
  return tracked;
}

test('an attempt at a stalled module ends the stall, an abort keeps it', () => {
  const tracked = readyModule();
  tracked.apply({ type: 'run-stalled', stall: STALL });
  tracked.startReconcile(reconcileWith('abort'));
  expect(tracked.stall).toBe(STALL);
  tracked.startReconcile(reconcileWith('reconcile'));
  expect(tracked.stall).toBeUndefined();
});

test('a reconcile is ongoing until it ends', () => {
  const tracked = readyModule();
  const reconcile = reconcileWith('reconcile');
  tracked.startReconcile(reconcile);
  expect(tracked.ongoing).toBe(reconcile);
  tracked.endReconcile();
  expect(tracked.ongoing).toBeUndefined();
});

test('a deletion forgets all but the hooks', () => {
  const tracked = readyModule();
  const { synchronization } = tracked;
  tracked.history.noteRun(0, new FakeClock(), 'failure');
  tracked.history.noteError('no disk');
  tracked.release.noteDeployed({ revision: 3, digest: undefined });
  tracked.startReconcile(reconcileWith('delete'));
  tracked.startDeletion();
  expect(tracked).toMatchObject({ phase: 'startup', hooks: [], ongoing: undefined });
  expect(tracked.history).toMatchObject({ lastRun: undefined, lastError: '' });
  expect(tracked.release.deployed).toBeUndefined();
  expect(tracked.synchronization).not.toBe(synchronization);
});
