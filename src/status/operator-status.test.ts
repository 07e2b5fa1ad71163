import { expect, test } from 'vitest';
import {
  about,
  busy,
  DRIFTED,
  FAILING,
  factsOf,
  runningHook,
  SINCE,
  summary,
} from '../../test/support/operator-facts.ts';
import type { OperatorFacts } from './operator-facts.ts';
import { operatorStatus, statusText } from './operator-status.ts';
import { hookText } from './running-hook.ts';

const UNTIL = '2026-11-23T18:00:00Z';

test.each<[string, Partial<OperatorFacts>, string, string]>([
  ['nothing is to do', {}, 'well', 'all is well: 0 modules ready, nothing to do'],
  [
    'tasks run',
    { queues: [busy({ tasks: 2 })], modules: [summary('web')] },
    'well',
    'all is well: 1 module ready, 2 tasks in progress',
  ],
  [
    'the head of main fails',
    { queues: [FAILING], modules: [summary('web', { status: 'failing', lastError: 'x' })] },
    'broken',
    'queue main waits 23 s to try ModuleRun web again (failed attempts: 3); 2 tasks behind it: helm: \\u001b[31mno such key',
  ],
  [
    'the head of main is tried again',
    { queues: [busy({ failures: 1, lastError: 'boom' })] },
    'broken',
    'queue main tries ModuleRun web again (failed attempts: 1): boom',
  ],
  [
    'an enabled script or a global hook fails',
    {
      queues: [
        busy({
          head: 'ConvergeModules',
          failures: 1,
          lastError: "the enabled script of module 'web' failed",
        }),
      ],
    },
    'broken',
    "queue main tries ConvergeModules again (failed attempts: 1): the enabled script of module 'web' failed",
  ],
  [
    'a named queue fails',
    { queues: [busy({ name: 'own', head: 'ModuleHookRun web/hooks/a.sh', failures: 2, lastError: 'boom' })] },
    'broken',
    'queue own tries ModuleHookRun web/hooks/a.sh again (failed attempts: 2): boom',
  ],
  [
    'the ConfigMap is refused',
    { configProblem: 'web.replicas must be integer' },
    'broken',
    'the ConfigMap is refused, so older values stay in use: web.replicas must be integer',
  ],
  [
    'a module lacks what it requires',
    {
      modules: [
        summary('web'),
        summary('app', { status: 'disabled', source: 'requirement', reason: 'requires module db' }),
        summary('off', { status: 'disabled', source: 'default' }),
      ],
    },
    'notice',
    'module app is disabled: requires module db',
  ],
  [
    'changed files cannot be loaded',
    { unloadedFiles: ['changed files cannot be loaded, the modules are as they were: values.yaml:3: bad'] },
    'broken',
    'changed files cannot be loaded, the modules are as they were: values.yaml:3: bad',
  ],
  [
    'a hook runs for a while',
    { runningHooks: [runningHook(35_400)] },
    'waiting',
    'hook hang.sh runs for 35 s (queue main, task GlobalHookRun, pid 4711)',
  ],
  [
    'a hook has just begun',
    { runningHooks: [runningHook(9_000)] },
    'well',
    'all is well: 0 modules ready, nothing to do',
  ],
  [
    'a hook hangs',
    { runningHooks: [runningHook(600_000)] },
    'broken',
    'hook hang.sh runs for 600 s (queue main, task GlobalHookRun, pid 4711)',
  ],
  [
    'a module failed for good',
    { modules: [summary('db'), summary('web', { status: 'failing', lastError: 'no chart' })] },
    'broken',
    'module web is failing: no chart',
  ],
  [
    'a required module fails',
    {
      modules: [
        summary('web', { status: 'isolated', waitsFor: ['module db, which fails'], nextTryAt: UNTIL }),
      ],
    },
    'broken',
    `module web is isolated (next try at ${UNTIL}): it waits for module db, which fails`,
  ],
  [
    'a module is not authorized',
    { modules: [summary('web', { status: 'unauthorized', reason: 'not authorized: no signature' })] },
    'broken',
    'module web is unauthorized: not authorized: no signature',
  ],
  [
    'a release waits for a decision',
    { modules: [summary('old', { status: 'held', waitsFor: ['a decision'] })] },
    'broken',
    'module old is held: it waits for a decision',
  ],
  [
    'a permission is missing, or a watch is stale',
    { staleWatches: [about('binding pods of hook a.sh has no snapshot: forbidden')] },
    'broken',
    'binding pods of hook a.sh has no snapshot: forbidden',
  ],
  [
    'a filter fails on an object',
    {
      unfilteredObjects: [about('binding pods of hook a.sh does not have the last state of a/one: too bad')],
    },
    'broken',
    'binding pods of hook a.sh does not have the last state of a/one: too bad',
  ],
  [
    'the API server gives no response',
    { outage: { error: 'Cannot reach the API server https://10.0.0.1', durationMs: 42_900, since: SINCE } },
    'broken',
    'the API server has not responded for 42 s: Cannot reach the API server https://10.0.0.1; snapshots and releases are as they were then, and everything continues when it responds',
  ],
  [
    'the operator starts',
    { firstConverge: 'not-started', queues: [busy({ head: 'GlobalHookRun a.sh' })] },
    'waiting',
    'the operator starts: GlobalHookRun a.sh, 1 task in queue main',
  ],
  [
    'the first converge is in progress',
    { firstConverge: 'running' },
    'waiting',
    'the first converge is in progress',
  ],
  [
    'the first converge runs a module',
    { firstConverge: 'running', queues: [busy({ tasks: 45 })] },
    'waiting',
    'the first converge is in progress: ModuleRun web, 45 tasks in queue main',
  ],
  [
    'all modules are paused',
    {
      pause: { reason: 'night', since: SINCE, until: UNTIL },
      modules: [summary('web', { status: 'paused', paused: { reason: 'night', until: UNTIL } })],
    },
    'waiting',
    `all modules are paused until ${UNTIL}: night`,
  ],
  [
    'a module is paused',
    { modules: [summary('web', { status: 'paused', paused: { reason: 'disks', until: null } })] },
    'waiting',
    'module web is paused until it is resumed: disks',
  ],
  [
    'a module starts',
    { modules: [summary('web', { status: 'starting', waitsFor: ['2 tasks in front of it'] })] },
    'waiting',
    'module web is starting: it waits for 2 tasks in front of it',
  ],
  [
    'objects drifted',
    { drifted: [{ ...DRIFTED, module: 'web', others: 2 }] },
    'waiting',
    '/ConfigMap/db and 2 more objects of module web were changed by others; it is not corrected',
  ],
  [
    'a module is disabled',
    { modules: [summary('web', { status: 'disabled' })] },
    'well',
    'all is well: 0 modules ready, nothing to do',
  ],
])('when %s, the status says so', (_name, facts, level, text) => {
  const status = operatorStatus(factsOf(facts));
  expect({ level: status.level, text: status.text }).toEqual({ level, text });
  expect(status.problems).toEqual(level === 'well' ? [] : [text]);
});

test('modules that wait for a task that fails are named in one line, in which the error is not repeated', () => {
  const names = ['web', 'dns', 'mail', 'db', 'app', 'log'];
  const behind = names.map((name) =>
    summary(name, { status: 'undecided', heldUpBy: 'GlobalHookRun a.sh fails', heldUpRef: 'queue/main' }),
  );
  const own = summary('own', { status: 'starting', heldUpBy: 'hook b.sh runs', heldUpRef: 'hook/b.sh' });
  const head = busy({
    head: 'GlobalHookRun a.sh',
    module: '',
    failures: 1,
    lastError: "global hook 'a.sh' failed: no network",
  });
  const { problems } = operatorStatus(factsOf({ queues: [head], modules: [...behind, own] }));
  expect(problems).toEqual([
    'queue main tries GlobalHookRun a.sh again (failed attempts: 1): no network',
    'modules web, dns, mail, db, app and 1 more wait for GlobalHookRun a.sh in queue main',
    'module own is starting: hook b.sh runs',
  ]);
  const ofTwo = operatorStatus(factsOf({ queues: [head], modules: behind.slice(0, 2) }));
  expect(ofTwo.problems[1]).toBe('modules web and dns wait for GlobalHookRun a.sh in queue main');
});

test('modules that wait for a task that runs are named in one line, too', () => {
  const behind = ['web', 'dns'].map((name) =>
    summary(name, { status: 'starting', waitsFor: ['ModuleRun db in front of it'], heldUpRef: 'queue/main' }),
  );
  const running = busy({ head: 'ModuleRun db', module: 'db', failures: 0 });
  expect(operatorStatus(factsOf({ queues: [running], modules: behind })).problems).toEqual([
    'modules web and dns wait for ModuleRun db in queue main',
  ]);
});

test('a module whose hook fails at the head of its queue is said once', () => {
  const head = busy({ head: 'ModuleHookRun db/hooks/a.sh', module: 'db', failures: 2, lastError: 'no disk' });
  const db = summary('db', { status: 'failing', lastError: 'no disk', heldUpRef: 'module/db' });
  const { problems } = operatorStatus(factsOf({ queues: [head], modules: [db] }));
  expect(problems).toEqual([
    'queue main tries ModuleHookRun db/hooks/a.sh again (failed attempts: 2): no disk',
  ]);
});

test('what is broken comes before what waits, and all of it is counted', () => {
  const modules = [summary('db'), summary('web', { status: 'starting', waitsFor: ['its turn'] })];
  const status = operatorStatus(
    factsOf({ drifted: [DRIFTED], runningHooks: [runningHook(20_000)], queues: [FAILING], modules }),
  );
  expect(status.level).toBe('broken');
  expect(statusText(status)).toBe(
    [
      'queue main waits 23 s to try ModuleRun web again (failed attempts: 3); 2 tasks behind it: helm: \\u001b[31mno such key',
      '  to fix: correct what the error names; the operator retries by itself',
      '  to fix: `addon-operator queue retry main` tries it again now',
      '  to fix: `addon-operator module pause web --reason WHY` pauses the module and frees the 2 tasks behind it',
      '  to fix: `--module-failure-policy isolate` lets other modules run while one fails',
      '- hook hang.sh runs for 20 s (queue main, task GlobalHookRun, pid 4711)',
      '- module web is starting: it waits for its turn',
      '- /ConfigMap/db of module db was changed by others; it is not corrected',
      '  to fix: `addon-operator explain module db` names the fields',
      'modules: 1 ready, 1 starting',
      'tasks: 3',
      '',
    ].join('\n'),
  );
});

test('a notice is said after what waits, and does not hide it', () => {
  const needy = summary('app', { status: 'disabled', source: 'requirement', reason: 'requires module db' });
  const { level, problems } = operatorStatus(
    factsOf({ modules: [needy], runningHooks: [runningHook(20_000)] }),
  );
  expect([level, problems.length, problems[1]]).toEqual([
    'waiting',
    2,
    'module app is disabled: requires module db',
  ]);
});

test('of files that cannot be loaded the status says which, and why, however long the error is', () => {
  const what =
    "changed files cannot be loaded, the hooks of module web are as they were: module 'web' hook 'a.sh'";
  const { text } = operatorStatus(
    factsOf({ unloadedFiles: [`${what}: ${'x'.repeat(999)} reason\n\nhook --config output: {}`] }),
  );
  expect(text.startsWith(`${what}: x`)).toBe(true);
  expect(text).toMatch(/…x+ reason$/);
  expect(text.length).toBeLessThan(400);
});

test('of a long error the end is said', () => {
  const { text } = operatorStatus(
    factsOf({ queues: [busy({ failures: 1, lastError: `${'x'.repeat(999)} reason` })] }),
  );
  expect(text).toMatch(/: …x+ reason$/);
  expect(text.length).toBeLessThan(400);
});

test('a running hook is shown with its task and its process, or with its binding where it has neither', () => {
  const thread = { ...runningHook(20_000), pid: null };
  expect(hookText(thread)).toBe('hook hang.sh runs for 20 s (queue main, task GlobalHookRun)');
  const webhook = { ...thread, binding: 'kubernetesValidating', queue: '', task: '' };
  expect(hookText(webhook)).toBe('hook hang.sh runs for 20 s (kubernetesValidating)');
});

test('a failed task shows the headline of its error', () => {
  const lastError = 'OSError: no disk\n\nTraceback\n  File "a.py", line 3\nOSError: no disk\ngoodbye';
  const { text } = operatorStatus(factsOf({ queues: [busy({ failures: 1, lastError })] }));
  expect(text).toBe('queue main tries ModuleRun web again (failed attempts: 1): OSError: no disk');
});

test('a start is stuck where its task fails or its hook hangs, and goes on where that only has to wait', () => {
  const said = (facts: Partial<OperatorFacts>): readonly string[] =>
    operatorStatus(factsOf(facts)).problems.filter((text) => /^the (first converge|operator) /.test(text));
  const failing = busy({ tasks: 45, failures: 1, lastError: 'no disk' });
  const where = 'ModuleRun web, 45 tasks in queue main';
  expect(said({ firstConverge: 'running', queues: [failing] })).toEqual([
    `the first converge is stuck at ${where}`,
  ]);
  expect(said({ firstConverge: 'not-started', queues: [failing] })).toEqual([
    `the operator is stuck at ${where}`,
  ]);
  const queues = [busy({ tasks: 45 })];
  const hangs = { runningHooks: [runningHook(600_000)] };
  expect(said({ firstConverge: 'running', queues, ...hangs })).toEqual([
    `the first converge is stuck at ${where}`,
  ]);
  const runs = { runningHooks: [runningHook(599_999)] };
  expect(said({ firstConverge: 'running', queues, ...runs })).toEqual([
    `the first converge is in progress: ${where}`,
  ]);
  expect(said({ firstConverge: 'running', queues: [{ ...failing, isNotYet: true }] })).toEqual([
    `the first converge is in progress: ${where}`,
  ]);
});
