import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { checkStep, type StepFinding } from './check-step.ts';
import type { RunJq } from './match.ts';
import { pictureOf } from './picture.ts';
import { SnapshotFile } from './snapshot-file.ts';
import { type Action, type Expectation, STEP_ACTIONS, type Step, type TestCase } from './test-file.ts';
import type { ObservedRun, TestWorld } from './test-world.ts';

export type CaseResult = {
  readonly name: string;
  readonly durationMs: number;
  /**
   * Requests that the hook itself sent to the API, in order, such as `GET /api/v1/pods`; absent for none. With them the hook is
   * impure: what it writes depends on more than its input.
   */
  readonly requests?: readonly string[];
} & (
  | { readonly result: 'passed' }
  | { readonly result: 'skipped'; readonly reason: string }
  | { readonly result: 'failed'; readonly failure: CaseFailure }
);

/** Why a case failed. */
export interface CaseFailure {
  /** Of the case: absent if no step is to blame. */
  readonly step?: { readonly index: number; readonly title: string };
  readonly findings: readonly StepFinding[];
  /** Runs of the step that failed. */
  readonly runs: readonly ObservedRun[];
}

export interface CaseOptions {
  /** Opens the world of the case. */
  readonly open: (test: TestCase) => Promise<TestWorld & AsyncDisposable>;
  readonly jq: RunJq;
  /** Default: none is stored. */
  readonly snapshots?: Pick<SnapshotFile, 'compare'>;
  readonly clock: Pick<Clock, 'steadyMs'>;
  readonly signal: AbortSignal;
}

/** Runs one case. @throws `signal.reason` on abort */
export async function runCase(test: TestCase, options: CaseOptions): Promise<CaseResult> {
  const { clock, signal } = options;
  const startedMs = clock.steadyMs();
  const { name, skip } = test;
  if (skip !== undefined) return { name, durationMs: 0, result: 'skipped', reason: skip };
  const requests: string[] = [];
  const failure = await failureOf(test, options, (sent) => requests.push(...sent));
  signal.throwIfAborted();
  const common = { name, durationMs: clock.steadyMs() - startedMs, ...(requests.length > 0 && { requests }) };
  return failure === undefined ? { ...common, result: 'passed' } : { ...common, result: 'failed', failure };
}

/** Gets the requests that the hook itself sent. */
type OnRequests = (requests: readonly string[]) => void;

async function failureOf(
  test: TestCase,
  { open, jq, snapshots = new SnapshotFile(undefined, false) }: CaseOptions,
  onRequests: OnRequests,
): Promise<CaseFailure | undefined> {
  try {
    await using world = await open(test);
    if (test.replay !== undefined) return await replayFailure(test.replay, world, onRequests);
    for (const [index, step] of (test.steps ?? []).entries()) {
      const failure = await stepFailure(test.name, step, index, { world, jq, snapshots, onRequests });
      if (failure !== undefined) return failure;
    }
    const pending = world.pending();
    return pending.length === 0
      ? undefined
      : { runs: [], findings: pending.map((run) => ({ message: `at the end of the case ${run}` })) };
  } catch (error) {
    return { runs: [], findings: [{ message: messageOf(error) }] };
  }
}

async function replayFailure(
  path: string,
  world: TestWorld,
  onRequests: OnRequests,
): Promise<CaseFailure | undefined> {
  const { problem, requests } = await world.replay(path);
  onRequests(requests);
  return problem === undefined ? undefined : { runs: [], findings: [{ message: problem }] };
}

interface StepParts extends Required<Pick<CaseOptions, 'jq' | 'snapshots'>> {
  readonly world: TestWorld;
  readonly onRequests: OnRequests;
}

async function stepFailure(
  name: string,
  step: Step,
  index: number,
  { world, jq, snapshots, onRequests }: StepParts,
): Promise<CaseFailure | undefined> {
  const { action, expect } = partsOf(step);
  const place = { index, title: titleOf(action) };
  try {
    const facts = await world.perform(action);
    onRequests(facts.requests);
    const found = await checkStep(expect, facts, world, jq);
    const findings =
      expect.snapshot === true
        ? [...found, ...snapshots.compare(name, place, await pictureOf(facts, world))]
        : found;
    return findings.length === 0 ? undefined : { step: place, findings, runs: facts.runs };
  } catch (error) {
    return { step: place, findings: [{ message: messageOf(error) }], runs: [] };
  }
}

function partsOf(step: Step): { readonly action: Action; readonly expect: Expectation } {
  if (typeof step === 'string') return { action: { [step]: true }, expect: {} };
  const { expect = {}, ...action } = step;
  return { action, expect: expect === 'snapshot' ? { snapshot: true } : expect };
}

function titleOf(action: Action): string {
  const name = STEP_ACTIONS.find((each) => each in action) ?? '';
  const argument = action[name as keyof Action];
  return typeof argument === 'string' ? `${name}: ${argument}` : name;
}
