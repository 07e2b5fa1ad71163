import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { unfinishedRuns } from '../queues/unfinished-runs.ts';
import { conditionsOf } from '../status/module-conditions.ts';
import { factsOfModule } from '../views/collect-module-facts.ts';
import { runForWebhook } from './webhook-run.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/module-object.md'), 'utf8');
const SECTION = PAGE.slice(PAGE.indexOf('### Hooks that run for long or fail'));
const HOOK = 'web/a.sh';
const never = new AbortController().signal;

type Start = (lab: OperatorLab) => unknown;

const tick: Start = (lab) => lab.tick(HOOK);
const emit: Start = (lab) => lab.emit(`${HOOK}/pods`);
const run: Start = (lab) => lab.operator.router.queueModuleRun(name('web'), 'Test');
const request: Start = (lab) => {
  const runtime = lab.runtimeOf(HOOK);
  const [binding] = runtime.hook.config.admission;
  if (binding === undefined) throw new Error('the hook has no webhook');
  const reason = { type: 'admission', binding, review: { request: { uid: '1' } } } as const;
  const caller = { atMs: lab.clock.steadyMs(), span: undefined };
  // A failed request is the caller's.
  runForWebhook(lab.operator, runtime, { reason, caller }, never).catch(() => undefined);
};

const SCHEDULE = { crontab: '0 0 1 1 *' };
const PODS = { kind: 'Pod', name: 'pods', executeHookOnSynchronization: false };
const RETRIED: readonly (readonly [string, object, Start])[] = [
  ['schedule in main', { schedule: [SCHEDULE] }, tick],
  ['schedule in its own queue', { schedule: [{ ...SCHEDULE, queue: 'side' }] }, tick],
  ['kubernetes in main', { kubernetes: [PODS] }, emit],
  ['kubernetes in its own queue', { kubernetes: [{ ...PODS, queue: 'side' }] }, emit],
  ['beforeHelm', { beforeHelm: 1 }, run],
  ['afterHelm', { afterHelm: 1 }, run],
];
const WEBHOOK = ['webhook', { kubernetesValidating: [{ name: 'a.example.com' }] }, request] as const;
const FINAL = ['final', { schedule: [SCHEDULE], settings: { retry: { max: 0 } } }, tick] as const;
const ALLOWED = ['allowFailure', { schedule: [{ ...SCHEDULE, allowFailure: true }] }, tick] as const;

/** The row of the page about what a hook does: `Ready`, `Stalled`, `Reconciling` and the reason. */
function rowOf(what: string): readonly string[] {
  const line = SECTION.split('\n').find((row) => row.startsWith(`| ${what} |`)) ?? '';
  return [...line.matchAll(/`(\w+)` (?=\|)/gu)].map(([, cell = '']) => cell).slice(-4);
}

function stateOf(lab: OperatorLab): readonly string[] {
  const facts = factsOfModule(lab.operator, 'web');
  if (facts === undefined) throw new Error('there is no module web');
  const conditions = new Map(conditionsOf(facts).map((condition) => [condition.type, condition]));
  const status = (type: 'Ready' | 'Stalled' | 'Reconciling') => `${conditions.get(type)?.status}`;
  return [status('Ready'), status('Stalled'), status('Reconciling'), `${conditions.get('Ready')?.reason}`];
}

async function started(config: object): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], { [HOOK]: config });
  await lab.converge();
  expect(stateOf(lab)).toEqual(['True', 'False', 'False', 'Succeeded']);
  return lab;
}

test.each([...RETRIED, WEBHOOK])(
  'a %s hook that runs for long does what the page says',
  async (_name, config, start) => {
    await using lab = await started(config);
    const { promise, resolve } = Promise.withResolvers<void>();
    lab.behaviours.set(HOOK, () => promise);
    start(lab);
    await lab.settle();
    await lab.clock.advance(10_000);
    expect(stateOf(lab)).toEqual(rowOf('has been running for 10 seconds'));
    await lab.clock.advance(590_000);
    expect(stateOf(lab)).toEqual(rowOf('has been running for 10 minutes'));
    resolve();
    await lab.settle();
    expect(stateOf(lab)).toEqual(['True', 'False', 'False', 'Succeeded']);
  },
);

test.each(RETRIED)('a %s hook that fails does what the page says', async (_name, config, start) => {
  await using lab = await started(config);
  lab.behaviours.set(HOOK, failing);
  start(lab);
  await lab.settle();
  expect(stateOf(lab)).toEqual(rowOf('failed once, and is tried again'));
  await lab.pass(60_000, 2);
  expect(lab.calls.filter((call) => call.startsWith(HOOK)).length).toBeGreaterThanOrEqual(3);
  expect(stateOf(lab)).toEqual(rowOf('failed 3 times in a row, and is tried again'));
  lab.behaviours.delete(HOOK);
  await lab.pass(60_000, 1);
  expect(stateOf(lab)).toEqual(['True', 'False', 'False', 'Succeeded']);
});

test.each([
  [
    'for requests to its webhook',
    WEBHOOK,
    'failed for one request to its webhook',
    'failed for 3 requests to its webhook in a row',
  ],
  [
    'for good',
    FINAL,
    'failed permanently, such as after its last retry',
    'failed permanently, such as after its last retry',
  ],
  [
    'and may',
    ALLOWED,
    'failed 3 times in a row, with `allowFailure`',
    'failed 3 times in a row, with `allowFailure`',
  ],
] as const)('a hook that fails %s does what the page says', async (_name, [, config, start], once, often) => {
  await using lab = await started(config);
  lab.behaviours.set(HOOK, failing);
  const fail = async (): Promise<void> => {
    start(lab);
    await lab.settle();
  };
  await fail();
  expect(stateOf(lab)).toEqual(rowOf(once));
  await fail();
  await fail();
  expect(stateOf(lab)).toEqual(rowOf(often));
  // `status` and the object say the same.
  expect(unfinishedRuns(lab.operator).failed.length > 0).toBe(rowOf(often)[3] === 'HookFailed');
  lab.behaviours.delete(HOOK);
  await fail();
  expect(stateOf(lab)).toEqual(['True', 'False', 'False', 'Succeeded']);
});

test('each row of the page is tested', () => {
  const rows = SECTION.slice(0, SECTION.indexOf('\n\nThe next'))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  expect(rows).toHaveLength(8);
});
