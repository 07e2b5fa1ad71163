import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { execa } from 'execa';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { projectRoot } from '../checks/checkout.ts';
import { requireTools } from '../examples/catalogue/catalogue-world.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';

/** Their hooks call a server, which needs a port of its own. */
const WITH_SERVER = ['http-hook', 'deploy-notifier'];

/** Its program has to be built: test/examples/batch-hook.ts runs its tests. */
const BUILT = ['batch-hook'];

async function hookTest(paths: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
  let said = '';
  const output = { write: (text: string) => (said += text) };
  const exitCode = await runCli(['hook', 'test', ...paths], {
    env,
    cwd,
    clock: systemClock,
    stdout: output,
    stderr: output,
    stopSignal: () => new AbortController().signal,
  });
  return [exitCode, said] as const;
}

async function pathWithKubectl(context: TestContext): Promise<string> {
  const kubectl = await pinnedKubectl(
    { cacheDir: cacheDirectory(process.env, homedir()) },
    context.signal,
  ).catch((error: unknown) => context.skip(String(error)));
  return [dirname(process.execPath), dirname(kubectl), process.env['PATH']].join(delimiter);
}

test('the tests of the hooks in examples/ pass', { timeout: 300_000 }, async (context) => {
  requireTools(context, 'bash', 'jq', 'python3');
  const entries = await readdir(join(projectRoot, 'examples'), { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const paths = names
    .filter((name) => ![...WITH_SERVER, ...BUILT].includes(name))
    .map((name) => `examples/${name}`);
  const env = { ...process.env, PATH: await pathWithKubectl(context) };
  const [exitCode, said] = await hookTest(paths, env, projectRoot);
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/\n\d\d passed, 0 failed, 1 skipped\n$/)]);
});

/** Resolves when the server listens; it ends with the test. */
async function startServer(file: string, port: number): Promise<void> {
  const server = execa(process.execPath, [file], { env: { PORT: String(port) }, reject: false });
  onTestFinished(async () => {
    server.kill();
    await server;
  });
  const listening = Promise.withResolvers<void>();
  server.stdout.on('data', () => listening.resolve());
  await listening.promise;
}

test('the test of the HTTP hook in examples/ passes on its server', { timeout: 120_000 }, async () => {
  const [port = 0] = await freePorts(1);
  const directory = await mkdtemp(join(tmpdir(), 'http-hook-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await cp(join(projectRoot, 'examples/http-hook'), directory, { recursive: true });
  const file = join(directory, 'modules/001-size/hooks/size.http.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('127.0.0.1:8787', `127.0.0.1:${port}`));
  await startServer(join(directory, 'server/server.mjs'), port);
  const env = { ...process.env, ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS: '127.0.0.1' };
  const [exitCode, said] = await hookTest(['modules'], env, directory);
  expect([exitCode, said]).toEqual([0, expect.stringContaining('1 passed, 0 failed, 0 skipped')]);
});

test('the test of the deploy notifier in examples/ passes on its server', { timeout: 120_000 }, async () => {
  const [port = 0] = await freePorts(1);
  await startServer(join(projectRoot, 'examples/deploy-notifier/server/inbox.mjs'), port);
  const url = `http://127.0.0.1:${port}/`;
  const env = { ...process.env, NOTIFY_URL: url };
  const [exitCode, said] = await hookTest(['examples/deploy-notifier'], env, projectRoot);
  expect([exitCode, said]).toEqual([0, expect.stringContaining('2 passed, 0 failed, 0 skipped')]);
  expect(await (await fetch(url)).text()).toBe(
    'shop 1.0.0: revision 3 is deployed\nshop: revision 3 is removed\nshop without a version is refused: it is not signed\n',
  );
});
