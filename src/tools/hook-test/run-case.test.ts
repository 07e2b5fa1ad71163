import { expect, test } from 'vitest';
import { caseFailureText } from './report-text.ts';
import { type CaseResult, runCase } from './run-case.ts';
import type { Expectation, TestCase } from './test-file.ts';
import type { ObservedRun, StepFacts, TestWorld } from './test-world.ts';

const RUN: ObservedRun = {
  binding: 'kubernetes',
  contexts: [{ binding: 'pods' }],
  operations: [{ operation: 'Create' }],
  metrics: [{ name: 'pods', labels: { ns: 'a' }, value: 2 }],
  output: [{ stream: 'stdout', level: 'info', text: 'two pods' }],
};
const FACTS: StepFacts = { runs: [RUN], changes: [], errors: [], requests: [] };
const CHANGED: StepFacts = {
  ...FACTS,
  changes: [{ change: 'created', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' }],
};

async function run(
  expect: Expectation,
  facts: StepFacts | Error = FACTS,
  world: Partial<TestWorld> = {},
): Promise<CaseResult> {
  const example: TestCase = { name: 'one', steps: [{ run: 'beforeHelm', expect }] };
  return await runCase(example, {
    open: () =>
      Promise.resolve({
        perform: () => (facts instanceof Error ? Promise.reject(facts) : Promise.resolve(facts)),
        object: () => Promise.resolve({ data: { a: 'x' } }),
        values: () => ({ web: { a: 1 } }),
        configValues: () => ({}),
        pending: () => [],
        replay: () => Promise.resolve({ requests: [] }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
        ...world,
      }),
    jq: () => Promise.resolve([]),
    clock: { steadyMs: () => 0 },
    signal: new AbortController().signal,
  });
}

async function failure(...args: Parameters<typeof run>): Promise<string> {
  const result = await run(...args);
  return result.result === 'failed' ? caseFailureText(result.failure) : result.result;
}

test.each<Expectation>([
  {},
  { runs: 1, contexts: [{ binding: 'pods' }], operations: [{ operation: 'Create' }] },
  { metrics: [{ name: 'pods', value: 2 }], output: { $contains: 'two' }, values: { web: { a: 1 } } },
  { objects: [{ kind: 'ConfigMap', namespace: 'a', name: 'b', is: { data: { a: 'x' } } }] },
])('a step passes: %j', async (expected) => {
  expect(await run(expected, CHANGED)).toMatchObject({ result: 'passed' });
});

test.each<readonly [string, Expectation, StepFacts | Error, string]>([
  ['a run too much', { runs: 0 }, FACTS, 'runs\n  - 0\n  + 1'],
  ['another context', { contexts: [{ binding: 'x' }] }, FACTS, 'contexts[0].binding\n  - x\n  + pods'],
  ['other values', { values: { web: { a: 2 } } }, FACTS, 'values.web.a\n  - 2\n  + 1'],
  [
    'another object',
    { objects: [{ kind: 'A', name: 'b', is: { data: { a: 'z' } } }] },
    FACTS,
    'objects[0].is.data.a of A b\n  - z\n  + x',
  ],
  [
    'an object that exists',
    { objects: [{ kind: 'A', name: 'b', absent: true }] },
    FACTS,
    'A b exists, although',
  ],
  [
    'a change that is not named',
    { objects: [] },
    CHANGED,
    'the hook created ConfigMap a/b, which is not among',
  ],
  ['a metric', { metrics: [{ name: 'pods', value: 3 }] }, FACTS, 'metrics[0] no such metric was written'],
  [
    'a hook that succeeds',
    { outcome: 'failure' },
    FACTS,
    'the hook succeeded, although a failure is expected',
  ],
  ['no run', { outcome: 'failure' }, { ...FACTS, runs: [] }, 'the hook was not run'],
  [
    'a failure that is not expected',
    {},
    { ...FACTS, runs: [{ ...RUN, failure: 'exit code 1' }] },
    'the run for kubernetes failed: exit code 1\nthe hook printed:\n  | two pods',
  ],
  [
    'another failure',
    { outcome: 'failure', error: { $contains: 'issuer' } },
    { ...FACTS, runs: [{ ...RUN, failure: 'exit code 1' }] },
    'error\n  - $contains: issuer\n  + exit code 1',
  ],
  [
    'an error in the log of the hook',
    { runs: 1 },
    { ...FACTS, runs: [{ ...RUN, output: [{ stream: 'stdout', level: 'error', text: 'no issuer' }] }] },
    'the hook logged an error, and the step expects no output: no issuer',
  ],
  ['an error in the log', {}, { ...FACTS, errors: ['cannot patch'] }, 'logged as an error: cannot patch'],
  [
    'a step that is not possible',
    {},
    new Error('no such binding'),
    'step 1, run: beforeHelm\nno such binding',
  ],
])('a step fails for %s', async (_name, expected, facts, text) => {
  expect(await failure(expected, facts)).toContain(text);
});

test('others: allowed permits changes that are not named', async () => {
  expect(await run({ objects: [], others: 'allowed' }, CHANGED)).toMatchObject({ result: 'passed' });
});

test('a failure that is expected passes', async () => {
  const failed = { ...FACTS, runs: [{ ...RUN, failure: 'no issuer' }] };
  expect(await run({ outcome: 'failure', error: { $contains: 'issuer' } }, failed)).toMatchObject({
    result: 'passed',
  });
});

test('a run that is still to be repeated fails the case', async () => {
  expect(await failure({}, FACTS, { pending: () => ['the run for a waits'] })).toBe(
    'at the end of the case the run for a waits',
  );
});

test('a case that is skipped is not opened', async () => {
  const result = await runCase(
    { name: 'one', skip: 'later', steps: ['start'] },
    {
      open: () => Promise.reject(new Error('opened')),
      jq: () => Promise.resolve([]),
      clock: { steadyMs: () => 0 },
      signal: new AbortController().signal,
    },
  );
  expect(result).toMatchObject({ result: 'skipped', reason: 'later' });
});
