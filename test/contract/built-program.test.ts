import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
let app = '';
beforeEach(() => {
  app = realpathSync(mkdtempSync(join(tmpdir(), 'built-')));
  cpSync(join(ROOT, 'dist'), join(app, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(app, 'package.json'));
  rmSync(join(app, 'dist/.compile-cache'), { recursive: true, force: true });
});
afterEach(() => rmSync(app, { recursive: true, force: true }));

const cache = (): string => join(app, 'dist/.compile-cache');

async function run(
  ...args: readonly string[]
): Promise<{ exitCode?: number; stdout: string; stderr: string }> {
  const env = { PATH: '/usr/bin:/bin', HOME: app };
  return await execa(process.execPath, [join(app, 'dist/main.js'), ...args], {
    env,
    extendEnv: false,
    reject: false,
  });
}

function cachedFiles(): string[] {
  return readdirSync(cache(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('the program runs without its sources and packages, and keeps what was compiled', async () => {
  const version = await run('version');
  expect(version).toMatchObject({ exitCode: 0, stderr: '' });
  expect(cachedFiles().length).toBeGreaterThan(2);
  expect(await run('version')).toMatchObject({ exitCode: 0, stdout: version.stdout, stderr: '' });
});

test('no bundle imports a built-in module, because that reads all its exports and so loads undici', () => {
  const bundles = ['.', 'chunks', 'hooks/in-process'].flatMap((directory) =>
    readdirSync(join(app, 'dist', directory))
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(app, 'dist', directory, name)),
  );
  expect(bundles.length).toBeGreaterThan(20);
  expect(bundles.filter((file) => /^import .*["']node:/m.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test.each([
  ['damaged', () => cachedFiles().forEach((file) => writeFileSync(file, Buffer.alloc(5_000, 7)))],
  ['cut off', () => cachedFiles().forEach((file) => writeFileSync(file, ''))],
  ['in the way as a file', () => [rmSync(cache(), { recursive: true }), writeFileSync(cache(), '')]],
])('the program starts when the compiled code it kept is %s', async (_state, spoil) => {
  const { stdout } = await run('--help');
  spoil();
  expect(await run('--help')).toMatchObject({ exitCode: 0, stdout, stderr: '' });
});

test('records of the program name files and lines of the sources', async () => {
  const args = ['--namespace=ns', '--log-level=debug', `--tmp-dir=${app}/tmp`, `--kube-config=${app}/none`];
  const { exitCode, stdout } = await run('start', ...args);
  expect(exitCode).toBe(1);
  const sources = stdout.split('\n').map((line) => (JSON.parse(line) as { source: string }).source);
  expect(sources.at(-1)).toMatch(/^src\/daemon\.ts:\d+$/);
  expect(sources).toEqual(sources.map(() => expect.stringMatching(/^[\w-]+\/[\w-]+\.ts:\d+$/)));
});
