import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { execa } from 'execa';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NO_BINDINGS } from '../../src/hook-config/hook-config.ts';
import type { Hook } from '../../src/hooks/hook.ts';
import type { HookExit, HookRunResult } from '../../src/hooks/run-hook.ts';
import { CapturedLog } from '../support/captured-log.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startInProcessHooks } from '../support/in-process-hooks.ts';

const LOAD_MS = 60_000;
const EMPTY = { bindingContext: '[]', values: '{"global":{"a":{"b":[1]}}}', configValues: '{}' };
const never = new AbortController().signal;
const hooks = startInProcessHooks({
  env: { PATH: '/bin', GIVEN: 'yes' },
  maxOutputBytes: 1_000_000,
  // Soon filled; what idle threads of other tests hold must fit as well.
  heapLimitBytes: 96 * 1024 * 1024,
});

let root: string;
let captured: CapturedLog;
let lastExit: HookExit | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'in-process-'));
  captured = new CapturedLog(systemClock);
  lastExit = undefined;
});
afterEach(() => rm(root, { recursive: true }));
afterAll(() => hooks.stop());

/** Writes a hook with this handler body and loads it. */
async function hookWith(body: string, name = 'a.ts', timeoutMs?: number, on = hooks): Promise<Hook> {
  const file = await fileWith(
    `import { defineHook, type HookInput } from 'addon-operator/sdk';
let runs = 0;
export default defineHook({ onStartup: 1 }, async (input) => { runs += 1; ${body} });`,
    name,
  );
  await on.load(file, LOAD_MS, captured.logger, never);
  return hookAt(file, name, timeoutMs);
}

function hookAt(path: string, name: string, timeoutMs?: number): Hook {
  return {
    name,
    path,
    transport: 'in-process',
    owner: { type: 'global' },
    config: {
      ...NO_BINDINGS,
      lifecycle: { onStartup: 1 },
      settings: timeoutMs === undefined ? {} : { timeoutMs },
    },
  };
}

async function fileWith(text: string, name = 'a.ts'): Promise<string> {
  const file = join(root, name);
  await writeFile(file, text);
  return file;
}

function run(hook: Hook, signal = never, on = hooks): Promise<HookRunResult> {
  return on.run(hook, { ...EMPTY, onExit: (exit) => (lastExit = exit) }, captured.logger, signal);
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'none', messageOf);
}

test('run() gives the handler the span of the run', async () => {
  const hook = await hookWith("throw new Error('span ' + input.traceparent);");
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const traced = hooks.run(hook, { ...EMPTY, traceparent }, captured.logger, never);
  expect(await failure(traced)).toContain(`span ${traceparent}`);
  expect(await failure(run(hook))).toContain('span undefined');
});

test('load() returns the configuration as JSON, the version added', async () => {
  const file = await fileWith(
    "import { defineHook } from 'addon-operator/sdk';\nexport default defineHook({ onStartup: 1 }, () => {});",
  );
  expect(JSON.parse(await hooks.load(file, LOAD_MS, silentLogger, never))).toEqual({
    configVersion: 'v1',
    onStartup: 1,
  });
});

const IMPORT = "import { defineHook } from 'addon-operator/sdk';\n";
test.each([
  ['throws while it is loaded', `${IMPORT}throw new Error('no luck');`, /Error: no luck \(at .*a\.ts:2:7\)$/],
  ['throws no error', `${IMPORT}throw { code: 1 };`, /it threw \{ code: 1 \}$/],
  ['does not parse', `${IMPORT}export default defineHook(`, /SyntaxError: /],
  ['needs more than the removal of types', `${IMPORT}enum E { A }`, /TypeScript enum is not supported/],
  ['imports what is not there', `${IMPORT}import './gone.ts';`, /Cannot find module '.*gone\.ts'/],
  ['has no default export', IMPORT, /default export must be what defineHook\(\.\.\.\) returns, it has none$/],
  ['exports something else', `${IMPORT}export default 7;`, /this one is of type number$/],
  ['has no handler', `${IMPORT}export default defineHook({});`, /second argument must be the function/],
  ['has no configuration', `${IMPORT}export default defineHook(null, () => {});`, /the first argument must/],
  ['ends its thread', `${IMPORT}process.exit(0);`, /it called process\.exit\(0\)$/],
  ['hangs', `${IMPORT}for (;;);`, /it ran longer than its limit of 0\.3 s$/, 300],
  [
    'waits for ever',
    `${IMPORT}await new Promise((resolve) => setInterval(resolve, 1e6));`,
    /limit of 0\.3 s$/,
    300,
  ],
])('load() says what is wrong with a file that %s', async (_case, text, expected, limitMs = LOAD_MS) => {
  const file = await fileWith(text);
  const problem = await failure(hooks.load(file, limitMs, silentLogger, never));
  expect(problem).toContain(`cannot load hook '${file}': `);
  expect(problem).toMatch(expected);
});

test('run() hands over frozen data and returns what an executable would have written', async () => {
  const hook = await hookWith(`
    input.values.set('global.a.c', { deep: input.values.get('global.a.b.0') });
    input.values.remove('/global/a');
    input.configValues.patch([{ op: 'test', path: '/global/x', value: 1 }]);
    input.kubernetes.mergePatch({ kind: 'Pod', name: 'x' }, { a: null }, { subresource: 'status' });
    input.metrics.add('m', 1, { l: 'v' });
    input.admission.allow({ patch: [{ op: 'remove', path: '/x' }] });
    input.conversion.failed('no');`);
  const { outputs } = await run(hook);
  expect(outputs).toEqual({
    valuesPatch: '{"op":"add","path":"/global/a/c","value":{"deep":1}}\n{"op":"remove","path":"/global/a"}',
    configValuesPatch: '{"op":"test","path":"/global/x","value":1}',
    kubernetesPatch:
      '{"operation":"MergePatch","kind":"Pod","name":"x","subresource":"status","mergePatch":{"a":null}}',
    metrics: '{"action":"add","name":"m","value":1,"labels":{"l":"v"}}',
    admissionResponse: `{"allowed":true,"warnings":[],"patch":"${Buffer.from('[{"op":"remove","path":"/x"}]').toString('base64')}"}`,
    conversionResponse: '{"failedMessage":"no"}',
  });
  expect(lastExit?.usage?.maxRssBytes).toBeGreaterThan(1_000_000);
});

test('run() keeps the module loaded, gives it the environment of hooks, and logs what it prints as an executable', async () => {
  const hook = await hookWith(`
    console.log('run', runs, process.env.GIVEN, process.env.HOME);
    console.error('to stderr');
    input.log.warn('by log', { count: 1 });
    process.stdout.write('no line end');`);
  await run(hook);
  await run(hook);
  expect(captured.printed).toEqual([
    'run 1 yes undefined',
    'by log',
    'no line end',
    'run 2 yes undefined',
    'by log',
    'no line end',
  ]);
  expect(captured.records).toContainEqual(expect.objectContaining({ output: 'stderr', msg: 'to stderr' }));
  expect(captured.records).toContainEqual(expect.objectContaining({ level: 'warn', hook_count: 1 }));
});

test('run() sees values that have changed since the last run, and those that have not', async () => {
  const hook = await hookWith('console.log(JSON.stringify([input.values.data, input.configValues.data]));');
  for (const values of ['{"n":1}', '{"n":1}', '{"n":2}', '{"n":1}'])
    await hooks.run(hook, { ...EMPTY, values }, captured.logger, never);
  await hooks.run(hook, { ...EMPTY, values: '{"n":1}', configValues: '{"c":1}' }, captured.logger, never);
  const seen = captured.printed.join(' ');
  expect(seen).toBe('[{"n":1},{}] [{"n":1},{}] [{"n":2},{}] [{"n":1},{}] [{"n":1},{"c":1}]');
});

test('run() that is aborted before its turn comes costs no worker', async () => {
  const hook = await hookWith('console.log(`run ${runs}`);');
  await run(hook);
  await expect(run(hook, AbortSignal.abort(new Error('no longer wanted')))).rejects.toThrow(
    'no longer wanted',
  );
  await run(hook);
  expect(captured.printed).toEqual(['run 1', 'run 2']);
});

test('what loading takes is off the limit of a run', async () => {
  const clock = new FakeClock();
  const own = startInProcessHooks({ clock, timeoutMs: 1_000 });
  try {
    const go = join(root, 'go');
    await writeFile(go, '');
    const path = await fileWith(
      `import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defineHook } from 'addon-operator/sdk';
console.log('loading');
while (!existsSync(${JSON.stringify(go)})) await setTimeout(5);
export default defineHook({ onStartup: 1 }, async ({ signal }) => {
  console.log('running');
  await setTimeout(1e6, undefined, { signal });
});`,
      'slow.ts',
    );
    await own.load(path, LOAD_MS, silentLogger, never);
    const hook = hookAt(path, 'slow.ts');
    const stopped = new AbortController();
    const run = (): Promise<string> => failure(own.run(hook, EMPTY, captured.logger, stopped.signal));
    const runs = [run()];
    await captured.untilPrinted('running');
    await rm(go);
    runs.push(run());
    await captured.untilPrinted('loading');
    await clock.advance(800);
    await writeFile(go, '');
    await captured.untilPrinted('running', 2);
    expect(clock.pendingDelaysMs.slice(0, 2)).toEqual([200, 200]);
    stopped.abort(new Error('enough'));
    expect(await Promise.all(runs)).toEqual(['enough', 'enough']);
  } finally {
    await own.stop();
  }
});

test('run() names the line of the source of a compiled hook', async () => {
  // Line 4 of the compiled file is line 3 of the source.
  const map = { version: 3, sources: ['source/author.ts'], names: [], mappings: ';;;AAEA' };
  const compiled = `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ onStartup: 1 }, () => fail());
function fail() {
throw new Error('no luck');
}
//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}
`;
  const file = await fileWith(compiled, 'compiled.mjs');
  await hooks.load(file, LOAD_MS, captured.logger, never);
  expect(await failure(run(hookAt(file, 'compiled.mjs')))).toMatch(
    /Error: no luck \(at .*source\/author\.ts:3:1\)$/,
  );
});

test('run() lets one hook run several times at once', async () => {
  const here = JSON.stringify(join(root, 'here'));
  // Each waits for the two others.
  const hook = await hookWith(
    `const { appendFileSync, readFileSync } = await import('node:fs'); appendFileSync(${here}, 'x'); while (readFileSync(${here}).length < 3) await new Promise((resolve) => setTimeout(resolve, 5)); console.log('together');`,
  );
  await Promise.all([run(hook), run(hook), run(hook)]);
  expect(captured.printed).toEqual(['together', 'together', 'together']);
});

describe('a hook that does wrong', () => {
  test.each([
    ['throws', "throw new TypeError('broken');", /TypeError: broken \(at .*a\.ts:\d+:\d+\)$/],
    ['throws with a cause', "throw new Error('a', { cause: new Error('b') });", /Error: a .*: Error: b/],
    ['throws nothing at all', 'throw undefined;', /it threw undefined$/],
    [
      'throws what cannot be shown',
      "throw { get x() { throw 1; }, [Symbol.for('nodejs.util.inspect.custom')]() { throw 2; } };",
      /it threw a value that cannot be printed$/,
    ],
    [
      'changes frozen values',
      'input.values.data.global.a = 1 as never;',
      /TypeError: Cannot assign to read only/,
    ],
    ['changes frozen contexts', '(input.contexts as any).push(1);', /TypeError: Cannot add property/],
    [
      'returns something',
      'return 7 as never;',
      /the handler returned a value \(number\): it must return nothing/,
    ],
    [
      'records what is no JSON',
      "input.values.set('a', undefined);",
      /the value for \/a: undefined is not a JSON/,
    ],
    ['records a ring', 'const a: any = {}; a.a = a; input.metrics.set(a, 1);', /circular structure/],
    [
      'writes too much',
      "input.values.set('a', 'x'.repeat(11e6));",
      /its valuesPatch has \d+ characters, more/,
    ],
    ['ends its thread', 'process.exit(3);', /it called process\.exit\(3\)$/],
    [
      'leaves an error to nobody',
      "setTimeout(() => { throw new Error('late'); }); await new Promise(() => setInterval(() => {}, 1e6));",
      /uncaught error: Error: late/,
    ],
    [
      'leaves a rejection to nobody',
      "void Promise.reject(new Error('lost')); await new Promise(() => setInterval(() => {}, 1e6));",
      /uncaught error: Error: lost/,
    ],
    [
      'fills its heap',
      'const a = []; for (;;) a.push({ x: Math.random() });',
      /it exceeded its memory limit/,
    ],
  ])(
    'by what it does (%s) fails with the reason, and the next run is well',
    { timeout: 120_000 },
    async (_case, body, expected) => {
      const good = await hookWith("console.log('good');", 'good.ts');
      const hook = await hookWith(`if (input.contexts.length === 0) { ${body} }`);
      const [problem] = await Promise.all([failure(run(hook)), run(good)]);
      expect(lastExit?.usage?.maxRssBytes).toBeGreaterThan(0);
      expect(problem).toContain("global hook 'a.ts' failed: ");
      expect(problem).toMatch(expected);
      await hooks.run(hook, { ...EMPTY, bindingContext: '[{}]' }, captured.logger, never);
      await run(good);
      expect(captured.printed).toEqual(['good', 'good']);
    },
  );

  test.each([
    ['in an endless loop', 'for (;;);'],
    ['for ever', 'await new Promise(() => setInterval(() => {}, 1e6));'],
  ])('by running %s is stopped at its limit', async (_case, body) => {
    const hook = await hookWith(body, 'a.ts', 200);
    expect(await failure(run(hook))).toBe(
      "global hook 'a.ts' was stopped: it ran longer than its limit of 0.2 s",
    );
  });

  test('by running on is notified by its signal when it is to end, and rejects with the reason', async () => {
    const hook = await hookWith(
      "console.log('waits'); await new Promise((resolve) => { const t = setInterval(() => {}, 1e6); input.signal.addEventListener('abort', () => { clearInterval(t); console.log('told'); resolve(0); }); });",
    );
    const controller = new AbortController();
    const running = failure(run(hook, controller.signal));
    await captured.untilPrinted('waits');
    controller.abort(new Error('stop it'));
    expect(await running).toBe('stop it');
    expect(captured.printed).toEqual(['waits', 'told']);
  });

  test('by leaving timers behind loses its thread, with a warning', async () => {
    const hook = await hookWith("console.log('run', runs); setInterval(() => {}, 1e6);");
    await run(hook);
    await run(hook);
    expect(captured.printed).toEqual(['run 1', 'run 1']);
    expect(captured.records).toContainEqual(expect.objectContaining({ level: 'warn', timers: 1 }));
  });

  test('by printing without end is logged up to the limit, at the pace of the log', async () => {
    const hook = await hookWith("for (let i = 0; i < 5e4; i += 1) console.log('x'.repeat(99));");
    await run(hook);
    expect(captured.printed).toHaveLength(10_000);
    expect(captured.records).toContainEqual(
      expect.objectContaining({ msg: 'hook output is truncated', truncatedBytes: 4_000_000 }),
    );
  });

  test.each([
    ['a Map that grows', 'const m = new Map(); for (let i = 0; ; i += 1) m.set(i, i);'],
    [
      '1 GB in buffers',
      'const b = []; for (let i = 0; i < 16; i += 1) { b.push(Buffer.alloc(2 ** 26, 1)); await null; } await new Promise((r) => setTimeout(r, 20_000, b));',
    ],
  ])(
    'by %s dies alone: other running hooks are repeated and not affected',
    { timeout: 120_000 },
    async (_case, body) => {
      // A process of their own: threads that other tests left idle would add to what these may use.
      const own = startInProcessHooks({ heapLimitBytes: 64 * 1024 * 1024 });
      try {
        const slow = await hookWith(
          "console.log('slow'); await new Promise((resolve) => setTimeout(resolve, 3_000)); input.metrics.set('slow', 1);",
          'slow.ts',
          undefined,
          own,
        );
        const hook = await hookWith(body, 'a.ts', undefined, own);
        const other = run(slow, never, own);
        await captured.untilPrinted('slow');
        expect(await failure(run(hook, never, own))).toMatch(
          /^global hook 'a\.ts' failed: it exceeded its memory limit/,
        );
        expect((await other).outputs.metrics).toContain('slow');
        const after = await hookWith('', 'b.ts', undefined, own);
        expect((await run(after, never, own)).outputs.metrics).toBe('');
      } finally {
        await own.stop();
      }
    },
  );
});

test('stop() ends several runs under way, and repeats none of them', async () => {
  const own = startInProcessHooks({ log: captured.logger });
  const body = "console.log('at work'); await new Promise((resolve) => setTimeout(resolve, 60_000));";
  const one = await hookWith(body, 'one.ts', undefined, own);
  const two = await hookWith(body, 'two.ts', undefined, own);
  const ends = [one, two].map((hook) => failure(run(hook, never, own)));
  await captured.until(() => captured.printed.length === 2);
  await own.stop();
  expect(await Promise.all(ends)).not.toContain('none');
  expect(captured.records).not.toContainEqual(expect.objectContaining({ level: 'warn' }));
});

test('nothing goes on when the daemon is killed, not even an endless loop', async () => {
  const file = await fileWith(
    `${IMPORT}export default defineHook({ onStartup: 1 }, () => { console.log(process.pid); for (;;); });`,
  );
  const daemon = await fileWith(
    `import { startInProcessHooks } from ${JSON.stringify(join(import.meta.dirname, '../support/in-process-hooks.ts'))};
import { silentLogger } from ${JSON.stringify(import.meta.resolve('@addon-operator/base/log'))};
const hooks = startInProcessHooks();
const never = new AbortController().signal;
await hooks.load(${JSON.stringify(file)}, 20000, silentLogger, never);
const log = { ...silentLogger, child: () => log, info: (_fields, text) => console.log(text) };
await hooks.run({ name: 'a', path: ${JSON.stringify(file)}, config: { settings: {} } }, ${JSON.stringify(EMPTY)}, log, never);`,
    'daemon.mjs',
  );
  const running = execa(process.execPath, [daemon], { reject: false });
  const [pid] = await once(running.stdout, 'data');
  running.kill('SIGKILL');
  await running;
  await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow(/ESRCH/), { timeout: 60_000 });
});

test('a hook may import ES modules and CommonJS, with types and without', async () => {
  await fileWith('export const one: number = 1;\n', 'one.mts');
  await fileWith('exports.two = 2;\n', 'two.cjs');
  await fileWith('const three: number = 3;\nmodule.exports = { three };\n', 'three.cts');
  const hook = await hookWith(
    "const { two } = await import('./two.cjs'); const { three } = await import('./three.cts'); const { one } = await import('./one.mts'); console.log(one, two, three as number);",
  );
  await run(hook);
  expect(captured.printed).toEqual(['1 2 3']);
});
