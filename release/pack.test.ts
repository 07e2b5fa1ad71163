import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type PackageName, packPackage } from './pack.ts';

const LIMIT = { timeout: 120_000 };
const root = join(import.meta.dirname, '..');
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pack-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Installs the archive of a package in an empty directory, and runs the example of its README there. */
async function runExample(name: PackageName, node: string): Promise<string> {
  const archive = await packPackage(name, directory, new AbortController().signal);
  const npm = ['install', '--offline', '--no-audit', '--no-fund', '--silent', archive];
  await execa('npm', npm, { cwd: directory });
  const example = await readFile(join(root, 'packages', name, 'test/example.ts'), 'utf8');
  await writeFile(join(directory, 'example.mjs'), stripTypeScriptTypes(example));
  const { stdout } = await execa(node, ['example.mjs'], { cwd: directory });
  return stdout;
}

/** The first Node in PATH that is not one of this repository: where there is one, the oldest that the SDK may meet. */
async function plainNode(): Promise<string> {
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) {
    if (place.includes('node_modules')) continue;
    const { exitCode } = await execa(join(place, 'node'), ['--version'], { reject: false });
    if (exitCode === 0) return join(place, 'node');
  }
  return process.execPath;
}

async function outputInReadme(name: PackageName): Promise<string | undefined> {
  const text = await readFile(join(root, 'packages', name, 'README.md'), 'utf8');
  return /^```text\n([^]*?)\n```$/m.exec(text)?.[1];
}

test('the packed SDK works in a plain project with the Node that is there', LIMIT, async () => {
  expect(await runExample('sdk', await plainNode())).toBe(await outputInReadme('sdk'));
});

test('the packed sandbox works in a plain project, and has nothing of the operator', LIMIT, async () => {
  expect(await runExample('kube-sandbox', process.execPath)).toBe(await outputInReadme('kube-sandbox'));
  const installed = join(directory, 'node_modules/@addon-operator/kube-sandbox');
  const manifest: unknown = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({
    version: '0.1.0',
    exports: { '.': { types: './src/kube-sandbox.d.ts', default: './src/kube-sandbox.js' } },
    bundleDependencies: [
      '@addon-operator/base',
      '@addon-operator/json',
      '@addon-operator/kube-client',
      '@addon-operator/strings',
      'js-yaml',
      'argparse',
    ],
  });
});

test.each([
  ['sdk', ['json']],
  ['kube-sandbox', ['base', 'json', 'kube-client', 'strings']],
] as const)('the packed %s has compiled files, and those of %j', LIMIT, async (name, parts) => {
  const archive = await packPackage(name, directory, new AbortController().signal);
  const { stdout } = await execa('tar', ['-tzf', archive]);
  const files = stdout.split('\n').map((file) => file.replace(/^package\//, ''));
  const compiled = String.raw`src/[\w/-]+\.(?:js|js\.map|d\.ts)`;
  const own = new RegExp(`^(?:${compiled}|package\\.json|README\\.md|LICENSE)$`);
  const bundled = new RegExp(
    `^node_modules/(?:@addon-operator/(?:${parts.join('|')})/(?:${compiled}|package\\.json)|(?:js-yaml|argparse)/.+)$`,
  );
  expect(files.filter((file) => !own.test(file) && !bundled.test(file))).toEqual([]);
  for (const file of ['package.json', 'README.md', 'LICENSE']) expect(files).toContain(file);
});
