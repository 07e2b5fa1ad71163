import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { execa } from 'execa';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { API_INDEPENDENT_TAG } from '../support/api-independent.ts';
import { hasGo } from '../support/control-plane/go-programs.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld, SOON } from './example-world.ts';

const BUILD = { timeout: 300_000 };

/** A run of the hook `count` with one object. */
const RECORDING = {
  version: 1,
  at: '2026-05-01T10:00:00.000Z',
  operator: '0.1.0',
  hook: 'hooks/count:count:0',
  module: 'count',
  binding: 'main',
  config: {},
  contexts: [{ binding: 'main', type: 'Group', snapshots: { counted: [{ filterResult: 'a' }] } }],
  values: { global: {}, count: { total: 0 } },
  configValues: { global: {} },
  env: ['PATH'],
  secrets: 'masked',
  durationMs: 4,
  outputs: {
    configValuesPatch: '',
    valuesPatch: '[{"op":"add","path":"/count/total","value":1}]',
    metrics: '{"name":"example_counted","action":"set","value":1}',
    kubernetesPatch: '',
    admissionResponse: '',
    conversionResponse: '',
  },
};

/** A copy of the modules of the example with the program in it, as its README builds it. */
async function builtModules({ skip, signal }: TestContext): Promise<string> {
  if (!(await hasGo(signal))) skip('there is no go');
  const directory = await mkdtemp(join(tmpdir(), 'batch-hook-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const modules = join(directory, 'modules');
  await cp(exampleDirectory('batch-hook', 'modules'), modules, { recursive: true });
  const source = exampleDirectory('batch-hook', 'src/main.go');
  await execa('go', ['build', '-o', join(modules, '001-count/hooks/count'), source], {
    cancelSignal: signal,
  });
  return modules;
}

export function batchHookTests(backend: () => Backend): void {
  test(
    'batch-hook: the chart follows what the program counts, its probe and its check have their effects',
    BUILD,
    async (context) => {
      const modules = await builtModules(context);
      await using world = await exampleWorld(backend(), 'batch-hook', { directories: { modules } });
      await world.converge();
      expect(world.log.printed).toContain('count is deployed');
      const labels = { example: 'counted' };
      for (const name of ['one', 'two'])
        await world.create('configmaps', { metadata: { name, labels } } as never);
      const total = async (): Promise<unknown> => {
        const object = (await world.get('configmaps', 'count')) as { data?: { total: string } } | undefined;
        return Number(object?.data?.total);
      };
      // Other examples count on the same API server.
      await expect.poll(total, SOON).toBeGreaterThanOrEqual(2);
      await world.putConfig({ count: 'limit: 0\n' });
      await world.log.until((records) =>
        records.some(({ error }) => String(error).endsWith('hook check`: limit must be at least 1')),
      );
      await world.putConfig({ count: 'limit: 1\n' });
      await world.log.untilMessage('ModuleRun success, module is ready', 2);
      world.clock.jump(5_000);
      await world.log.untilMessage('module is not ready: its readiness probe says so');
    },
  );

  test('batch-hook: commands know its hooks by name and index', {
    ...BUILD,
    tags: [API_INDEPENDENT_TAG],
  }, async (context) => {
    const modules = await builtModules(context);
    const cwd = dirname(modules);
    const run = async (...args: readonly string[]): Promise<readonly [number, string]> => {
      let text = '';
      const output = { write: (more: string) => (text += more) };
      const exitCode = await runCli(args, {
        env: { ...process.env, TMPDIR: cwd },
        cwd,
        clock: systemClock,
        stdout: output,
        stderr: output,
        stopSignal: () => context.signal,
      });
      return [exitCode, text];
    };
    const file = 'modules/001-count/hooks/count';
    expect(await run('hook', 'test', 'modules')).toEqual([
      0,
      expect.stringMatching(/\n2 passed, 0 failed, 0 skipped\n$/),
    ]);
    expect(await run('hook', 'test', 'modules', '--wrap', 'env')).toEqual([
      0,
      expect.stringContaining('2 passed, 0 failed'),
    ]);
    expect(await run('hook', 'run', `${file}:announce:1`, '--binding', 'afterHelm')).toEqual([
      0,
      expect.stringContaining('count is deployed'),
    ]);
    expect(await run('hook', 'config', `${file}:0`)).toEqual([
      0,
      expect.stringContaining('"name": "hooks/count:count:0"'),
    ]);
    expect(await run('hook', 'run', file)).toEqual([
      1,
      expect.stringContaining(
        'has several hooks: append :NAME:INDEX or :INDEX of one of them, hooks/count:count:0, hooks/count:announce:1, hooks/count-readiness',
      ),
    ]);
    expect(await run('hook', 'run', `${file}:none`)).toEqual([
      1,
      expect.stringContaining(`has no hook 'none'`),
    ]);
    expect(await run('module', 'lint', 'modules/001-count')).toEqual([0, '1 module: 0 errors, 0 warnings\n']);
    await writeFile(join(cwd, 'run.json'), JSON.stringify(RECORDING));
    expect(await run('hook', 'replay', '--modules-dir', 'modules', 'run.json')).toEqual([
      0,
      "1 recorded run on today's hooks: 1 same, 0 differ\n",
    ]);
    // It is not taken for another hook of the file.
    await writeFile(join(cwd, 'run.json'), JSON.stringify({ ...RECORDING, hook: 'hooks/count:count:1' }));
    expect(await run('hook', 'replay', '--modules-dir', 'modules', 'run.json')).toEqual([
      1,
      expect.stringContaining(`has no hook 'count:1'`),
    ]);
  });
}
