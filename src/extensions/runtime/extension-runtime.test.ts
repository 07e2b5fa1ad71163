import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { isPermanent, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Json } from '@addon-operator/json';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { startExtensionRuntime } from '../../../test/support/extension-runtime.ts';
import type { ExtensionCallRequest } from './extension-runtime.ts';

const SDK = join(import.meta.dirname, '../../../packages/sdk/src/host-api.ts');
const IMPORT = `import { extensionDefinition } from ${JSON.stringify(SDK)};\n`;
const HANG = 'await new Promise(() => setInterval(() => {}, 1e6));';
const never = new AbortController().signal;
const started = startExtensionRuntime({ heapLimitBytes: 64 * 1024 * 1024 });
const { runtime } = started;

let root: string;
let captured: CapturedLog;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'extensions-'));
  captured = new CapturedLog(systemClock);
});
afterEach(() => rm(root, { recursive: true }));
afterAll(() => started.stop());

async function fileWith(text: string, name = 'a.ts'): Promise<string> {
  const path = join(root, name);
  await writeFile(path, text);
  return path;
}

/** Loads a file whose method `act` has this body. */
async function withMethod(body: string, on = runtime, name = 'a.ts'): Promise<string> {
  const path = await fileWith(
    `${IMPORT}let calls = 0;
const host = { seen: [] as unknown[] };
export default extensionDefinition({ type: 'test', description: { a: 1 }, host, methods: {
  act: async ({ args, next, log, signal }) => { calls += 1; ${body} },
} });`,
    name,
  );
  await on.load(path, captured.logger, never);
  return path;
}

function call(path: string, more: Partial<ExtensionCallRequest> = {}, signal = never, on = runtime) {
  return on.call(
    { path, method: 'act', args: [], returns: 'optional', log: captured.logger, ...more },
    signal,
  );
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'none', messageOf);
}

test('load() gives what a file says of itself', async () => {
  const path = await withMethod('');
  expect(await runtime.load(path, captured.logger, never)).toEqual({
    path,
    type: 'test',
    description: { a: 1 },
    methods: ['act'],
  });
});

test('load() takes a file that has changed, and the calls after it get the new one', async () => {
  const path = await withMethod("return 'old';");
  expect(await call(path)).toBe('old');
  await withMethod("return 'new';");
  expect(await call(path)).toBe('new');
});

test.each([
  ['throws at load', `${IMPORT}throw new Error('no luck');`, /Error: no luck \(at .*a\.ts:2:7\)$/],
  ['does not parse', `${IMPORT}export default (`, /SyntaxError: .*a\.ts:\d+\)$/],
  ['has no default export', IMPORT, /defineExtensions\(\.\.\.\) or defineFlowHooks.* it has none$/],
  ['exports something else', 'export default 7;', /this one is of type number$/],
  [
    'is a hook',
    "import { defineHook } from 'addon-operator/sdk'; export default defineHook({}, () => {});",
    /object$/,
  ],
  ['ends its thread', 'process.exit(3);', /it called process\.exit\(3\)$/],
])('load() says what is wrong with a file that %s', async (_case, text, expected) => {
  const path = await fileWith(text);
  const problem = await failure(runtime.load(path, captured.logger, never));
  expect(problem).toContain(`cannot load extension '${path}': `);
  expect(problem).toMatch(expected);
});

test('call() hands over frozen data and gives what the method returns', async () => {
  const path = await withMethod(
    'return { sum: args[0].a[0] + args[1], isFrozen: Object.isFrozen(args[0].a), isHostFrozen: Object.isFrozen(host.seen) };',
  );
  expect(await call(path, { args: [{ a: [1] }, 2] })).toEqual({ sum: 3, isFrozen: true, isHostFrozen: true });
});

test('call() keeps the thread, and logs what the extension logs and prints', async () => {
  const path = await withMethod("log.warn('by log', { count: calls }); console.log('printed', calls);");
  await call(path);
  await call(path);
  expect(captured.printed).toEqual(['by log', 'printed 1', 'by log', 'printed 2']);
  expect(captured.records).toContainEqual(expect.objectContaining({ level: 'warn', hook_count: 2 }));
});

describe('next()', () => {
  test('queries the daemon each time it is called, with its arguments', async () => {
    const path = await withMethod("const one = await next({ n: args[0] }, 'x'); return [one, await next()];");
    const asked: (readonly Json[])[] = [];
    const next = async (given: readonly Json[]): Promise<Json> => {
      asked.push(given);
      return { asked: asked.length };
    };
    expect(await call(path, { args: [7], next })).toEqual([{ asked: 1 }, { asked: 2 }]);
    expect(asked).toEqual([[{ n: 7 }, 'x'], []]);
  });

  test('may be called several times at once, and return undefined', async () => {
    const path = await withMethod(
      "return (await Promise.all([next(1), next(2)])).map((x) => x ?? 'nothing');",
    );
    expect(await call(path, { next: async ([n]) => (n === 1 ? undefined : 'two') })).toEqual([
      'nothing',
      'two',
    ]);
  });

  const refused = new OperatorError('KUBE_API', 'the server refused', {
    isPermanent: true,
    cause: Object.assign(new Error('conflict'), { status: 409 }),
  });
  const refuse = (): Promise<never> => Promise.reject(refused);

  test('rejects with an error that has the fields of the one in the daemon', async () => {
    const path = await withMethod(
      'try { await next(); } catch (e) { return [e instanceof Error, e.name, e.message, e.code, e.status, e.isPermanent]; }',
    );
    expect(await call(path, { next: refuse })).toEqual([
      true,
      'OperatorError',
      'the server refused',
      'KUBE_API',
      409,
      true,
    ]);
  });

  test('whose error is passed on unchanged makes the call fail with that very error', async () => {
    const path = await withMethod('try { await next(); } catch (e) { throw e; }');
    await expect(call(path, { next: refuse })).rejects.toBe(refused);
  });

  test('whose error is the cause of another one makes the call fail with a cause', async () => {
    const path = await withMethod(
      "try { await next(); } catch (e) { throw new Error('mine', { cause: e }); }",
    );
    const error = await call(path, { next: refuse }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'EXTENSION_FAILED', cause: refused });
    expect(isPermanent(error)).toBe(true);
    expect(messageOf(error)).toMatch(
      /^act of the extension '.*a\.ts' failed: Error: mine \(at .*the server refused$/,
    );
  });

  test.each([
    [
      'given what is no JSON',
      'await next({ f: () => 1 });',
      /the argument of next\(\) is not JSON: \[0\]\.f is a function/,
    ],
    [
      'not waited for',
      "void next().catch(() => {}); return 'done';",
      /it returned before next\(\) had finished/,
    ],
    ['not there', 'await next();', /this extension point has no next\(\)$/, { next: undefined }],
  ])('%s makes the call fail', async (_case, body, expected, more: object = {}) => {
    const path = await withMethod(body);
    const { next, ...rest } = { next: async () => null, ...more };
    expect(await failure(call(path, next === undefined ? rest : { ...rest, next }))).toMatch(expected);
  });

  test('is notified by its signal when the call has ended, and call() waits for it', async () => {
    const path = await withMethod(
      "void next().catch(() => {}); await new Promise((r) => setTimeout(r, 50)); throw new Error('mine');",
    );
    const seen: string[] = [];
    const next = async (_args: readonly Json[], signal: AbortSignal): Promise<null> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      seen.push('told');
      return null;
    };
    expect(await failure(call(path, { next }))).toContain('mine');
    expect(seen).toEqual(['told']);
  });

  test('called after the end of its call fails, and the next call is well', async () => {
    const path = await withMethod(
      "if (calls === 2) { while (globalThis.late === 'pending') await new Promise((r) => setTimeout(r, 5)); return globalThis.late; } globalThis.late = 'pending'; setImmediate(() => setImmediate(() => next().catch((e) => { globalThis.late = e.message; }))); return null;",
    );
    await call(path, { next: async () => 1 });
    expect(await call(path, { next: async () => 1 })).toBe('next() was called after the end of its call');
  });

  test('takes its time: that is not counted against the limit', async () => {
    const path = await withMethod('return await next();');
    const next = async (): Promise<string> => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return 'slow';
    };
    await call(path, { next: async () => null });
    expect(await call(path, { next, timeoutMs: 1_000 })).toBe('slow');
  });
});

describe('a method that does wrong', () => {
  test.each([
    ['throws', "throw new TypeError('broken');", /failed: TypeError: broken \(at .*a\.ts:\d+:\d+\)$/],
    ['throws no error', 'throw 7;', /it threw 7$/],
    ['changes its arguments', 'args[0].a = 1;', /TypeError: Cannot add property a/],
    ['keeps state in its host', 'host.seen.push(1);', /TypeError: Cannot add property 0/],
    ['returns a function', 'return { f() {} };', /its result is not JSON: \.f is a function/],
    ['returns a cycle', 'const a: any = {}; a.a = a; return a;', /\.a is an object that contains it/],
    ['returns a Map', 'return new Map();', /it is an instance of Map/],
    ['returns nothing', '', /it returned nothing, but must return a value$/],
    ['ends its thread', 'process.exit(3);', /it called process\.exit\(3\)$/],
    [
      'leaves a rejection to nobody',
      `void Promise.reject(new Error('lost')); ${HANG}`,
      /uncaught error: Error: lost/,
    ],
    [
      'fills its heap',
      'const a = []; for (;;) a.push({ x: Math.random() });',
      /it exceeded its memory limit/,
    ],
    ['loops without end', 'for (;;);', /it ran longer than its limit of 0\.3 s$/, 300],
    ['never comes to an end', HANG, /it ran longer than its limit of 0\.3 s$/, 300],
  ])(
    '(it %s) fails with the reason, and the next call is well',
    { timeout: 120_000 },
    async (_case, body, expected, timeoutMs = 30_000) => {
      const good = await withMethod("return 'good';", runtime, 'good.ts');
      const path = await withMethod(`if (args[0] === 'well') return 'well'; ${body}`);
      const bad = { args: [{}], returns: 'value', timeoutMs } as const;
      const [problem, other] = await Promise.all([failure(call(path, bad)), call(good)]);
      expect(problem).toContain(`act of the extension '${path}' failed: `);
      expect(problem).toMatch(expected);
      expect([other, await call(path, { args: ['well'] })]).toEqual(['good', 'well']);
    },
  );

  test('by leaking memory until the process dies fails alone; others are repeated unless their next() was called', {
    timeout: 120_000,
  }, async () => {
    const own = startExtensionRuntime({ heapLimitBytes: 64 * 1024 * 1024 });
    try {
      const go = join(root, 'go');
      const wait = `const { existsSync } = await import('node:fs'); while (!existsSync(${JSON.stringify(go)})) await new Promise((r) => setTimeout(r, 10));`;
      const quiet = await withMethod(
        `console.log('waits'); ${wait} return 'quiet';`,
        own.runtime,
        'quiet.ts',
      );
      const asking = await withMethod(`await next(); ${wait} return 'asking';`, own.runtime, 'asking.ts');
      const leaking = await withMethod(
        'const b = []; for (;;) { b.push(Buffer.alloc(2 ** 26, 1)); await new Promise((r) => setTimeout(r, 5)); }',
        own.runtime,
        'leaking.ts',
      );
      let asked = 0;
      const firstAsk = Promise.withResolvers<void>();
      const next = async (): Promise<null> => {
        asked += 1;
        firstAsk.resolve();
        return null;
      };
      const others = [call(quiet, {}, never, own.runtime), call(asking, { next }, never, own.runtime)].map(
        (each) => each.catch(messageOf),
      );
      await captured.untilPrinted('waits');
      await firstAsk.promise;
      expect(await failure(call(leaking, {}, never, own.runtime))).toMatch(/it exceeded its memory limit/);
      await writeFile(go, '');
      const [first, second] = await Promise.all(others);
      expect([first, second, asked]).toEqual([
        'quiet',
        expect.stringMatching(/exceeded its memory limit/),
        1,
      ]);
      expect(await call(asking, { next }, never, own.runtime)).toBe('asking');
    } finally {
      await own.stop();
    }
  });
});

test('call() that is aborted reports the extension, and rejects with the reason', async () => {
  const path = await withMethod(
    "console.log('waits'); await new Promise((resolve) => { const t = setInterval(() => {}, 1e6); signal.addEventListener('abort', () => { clearInterval(t); console.log('told'); resolve(0); }); });",
  );
  const controller = new AbortController();
  const calling = failure(call(path, {}, controller.signal));
  await captured.untilPrinted('waits');
  controller.abort(new Error('stop it'));
  expect(await calling).toBe('stop it');
  expect(captured.printed).toEqual(['waits', 'told']);
});

test('nothing is loaded or called when the check says no', async () => {
  const own = startExtensionRuntime({
    check: () => {
      throw new OperatorError('LEASE_LOST', 'no lease');
    },
  });
  expect(await failure(own.runtime.load('/x.ts', captured.logger, never))).toBe('no lease');
  expect(await failure(call('/x.ts', {}, never, own.runtime))).toBe('no lease');
  await own.stop();
});
