import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot, smallCheckout } from '../checks/checkout.ts';

const MAIN = `
const args: readonly string[] = process.argv.slice(2);
console.log(JSON.stringify({ args, major: Number.parseInt(process.versions.node, 10), dir: import.meta.dirname }));
`;
let root = '';

beforeAll(() => {
  root = smallCheckout(MAIN);
  mkdirSync(join(root, 'src/ui'));
  writeFileSync(join(root, 'src/ui/page.html'), '<p>');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function launch(
  file: string,
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<unknown> {
  const { stdout } = await execa(file, ['one', 'two words'], options);
  return JSON.parse(stdout);
}

test('bin/addon-operator builds dist/ and runs it with Node 24, however it is called', async () => {
  const expected = { args: ['one', 'two words'], major: expect.any(Number), dir: join(root, 'dist') };
  const links = join(root, 'links');
  mkdirSync(links);
  symlinkSync('../bin/addon-operator', join(links, 'direct'));
  symlinkSync('direct', join(links, 'addon-operator'));
  const response = await launch(join(root, 'bin/addon-operator'));
  expect(response).toEqual(expected);
  expect((response as { major: number }).major).toBeGreaterThanOrEqual(24);
  expect(await launch('./addon-operator', { cwd: join(root, 'bin') })).toEqual(expected);
  expect(await launch('addon-operator', { env: { PATH: `${links}:${process.env['PATH']}` } })).toEqual(
    expected,
  );
  expect(existsSync(join(root, 'dist/ui/page.html'))).toBe(true);
});

test('bin/addon-operator builds again when a source file is newer, several at once, and leaves no rubbish', async () => {
  writeFileSync(join(root, 'src/main.ts'), `${MAIN}console.error('changed');`);
  writeFileSync(join(root, 'src/gone.ts'), 'export {};');
  const runs = await Promise.all([1, 2, 3].map(async () => await execa(join(root, 'bin/addon-operator'))));
  expect(runs.map((run) => run.stderr)).toEqual(['changed', 'changed', 'changed']);
  rmSync(join(root, 'src/gone.ts'));
  const later = new Date(Date.now() + 2_000);
  utimesSync(join(root, 'src/main.ts'), later, later);
  await execa(join(root, 'bin/addon-operator'));
  expect(readdirSync(join(root, 'dist')).toSorted()).toEqual(['.stamp', 'main.js', 'main.js.map', 'ui']);
  expect(readdirSync(root).filter((name) => name.startsWith('.build-'))).toEqual([]);
});

test('bin/addon-operator builds packages into the programs, which run without them, and again when one changes', async () => {
  const checkout = smallCheckout(
    "import { greeting } from '@addon-operator/greeting';\nconsole.log(greeting);\n",
  );
  const directory = join(checkout, 'packages/greeting');
  const manifest = {
    name: '@addon-operator/greeting',
    type: 'module',
    exports: { '.': './src/greeting.ts' },
  };
  const write = (greeting: string): void =>
    writeFileSync(join(directory, 'src/greeting.ts'), `export const greeting: string = '${greeting}';\n`);
  mkdirSync(join(directory, 'src'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  mkdirSync(join(checkout, 'node_modules/@addon-operator'));
  symlinkSync(directory, join(checkout, 'node_modules/@addon-operator/greeting'));
  write('hello');
  expect((await execa(join(checkout, 'bin/addon-operator'))).stdout).toBe('hello');
  const later = new Date(Date.now() + 2_000);
  write('hello again');
  utimesSync(join(directory, 'src/greeting.ts'), later, later);
  expect((await execa(join(checkout, 'bin/addon-operator'))).stdout).toBe('hello again');
  const map = JSON.parse(readFileSync(join(checkout, 'dist/main.js.map'), 'utf8')) as { sources: string[] };
  expect(map.sources.map((source) => join(checkout, 'dist', source))).toEqual([
    join(directory, 'src/greeting.ts'),
    join(checkout, 'src/main.ts'),
  ]);
  rmSync(directory, { recursive: true });
  expect((await execa(process.execPath, [join(checkout, 'dist/main.js')])).stdout).toBe('hello again');
  rmSync(checkout, { recursive: true });
});

test('bin/addon-operator builds each program with the licences of what it contains', async () => {
  const checkout = smallCheckout("console.log(new URL('other/second-main.js', import.meta.url).href);\n");
  mkdirSync(join(checkout, 'src/other'));
  writeFileSync(
    join(checkout, 'src/other/second-main.ts'),
    "import { valid } from 'semver';\nconsole.log(valid('v1.2.3'));\n",
  );
  symlinkSync(join(projectRoot, 'node_modules/semver'), join(checkout, 'node_modules/semver'));
  const second = (await execa(join(checkout, 'bin/addon-operator'))).stdout;
  rmSync(join(checkout, 'node_modules'), { recursive: true });
  expect((await execa(process.execPath, [fileURLToPath(second)])).stdout).toBe('1.2.3');
  const licences = readFileSync(join(checkout, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  expect(licences).toMatch(/^semver [\d.]+ \(ISC\)\n\nThe ISC License\n/);
  rmSync(checkout, { recursive: true });
});

test.each(['./missing.ts', 'missing-package'])(
  'a build without %s fails, says why and leaves the last one in place',
  async (missing) => {
    const checkout = smallCheckout("console.log('first');\n");
    await execa(join(checkout, 'bin/addon-operator'));
    const later = new Date(Date.now() + 2_000);
    writeFileSync(join(checkout, 'src/main.ts'), `import '${missing}';\n`);
    utimesSync(join(checkout, 'src/main.ts'), later, later);
    const { exitCode, stderr } = await execa(join(checkout, 'bin/addon-operator'), { reject: false });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(missing) });
    expect((await execa(process.execPath, [join(checkout, 'dist/main.js')])).stdout).toBe('first');
    expect(readdirSync(checkout).filter((name) => name.startsWith('.build-'))).toEqual([]);
    rmSync(checkout, { recursive: true });
  },
);

test('bin/addon-operator says which Node it needs when PATH has an older one', async () => {
  const bare = smallCheckout(MAIN);
  rmSync(join(bare, 'node_modules'), { recursive: true });
  const tools = join(bare, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'node'), '#!/bin/sh\necho v20.1.0\n');
  chmodSync(join(tools, 'node'), 0o755);
  const run = await execa(join(bare, 'bin/addon-operator'), {
    env: { PATH: `${tools}:/usr/bin:/bin`, ADDON_OPERATOR_NODE: '' },
    reject: false,
  });
  rmSync(bare, { recursive: true });
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toContain(`Node 24 or newer is needed, ${join(tools, 'node')} is v20.1.0: run 'npm ci'`);
});

test.each<[string, Record<string, string>, string | undefined]>([
  ['that is not in the image', {}, undefined],
  ['with hooks in the second directory alone', { IMAGE_HOOKS_DIRS: '{dir}/empty:{dir}/full' }, '{dir}/full'],
  ['with hooks in both', { IMAGE_HOOKS_DIRS: '{dir}/full:{dir}/other' }, '{dir}/full'],
  ['without hooks', { IMAGE_HOOKS_DIRS: '{dir}/empty:{dir}/none' }, '{dir}/empty'],
  [
    'with a variable of the user',
    { IMAGE_HOOKS_DIRS: '{dir}/empty:{dir}/full', GLOBAL_HOOKS_DIR: '{dir}/empty' },
    '{dir}/empty',
  ],
  [
    'with the variable of shell-operator',
    { IMAGE_HOOKS_DIRS: '{dir}/empty:{dir}/full', SHELL_OPERATOR_HOOKS_DIR: '/mine' },
    undefined,
  ],
  [
    'with its own variable',
    { IMAGE_HOOKS_DIRS: '{dir}/empty:{dir}/full', ADDON_OPERATOR_GLOBAL_HOOKS_DIR: '/mine' },
    undefined,
  ],
])('bin/addon-operator %s looks for global hooks where it should', async (_case, variables, expected) => {
  const checkout = smallCheckout("console.log(JSON.stringify([process.env['GLOBAL_HOOKS_DIR'] ?? null]));");
  for (const path of ['empty', 'full', 'other']) mkdirSync(join(checkout, path));
  for (const path of ['full/hook.sh', 'other/hook.sh']) writeFileSync(join(checkout, path), '');
  const filled = (text: string): string => text.replaceAll('{dir}', checkout);
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, filled(value)]));
  const response = await launch(join(checkout, 'bin/addon-operator'), { env });
  rmSync(checkout, { recursive: true });
  expect(response).toEqual([expected === undefined ? null : filled(expected)]);
});

test('a command that is printed for the next step begins as this one did', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'next-step-'));
  const program = join(relative(directory, projectRoot), 'bin/addon-operator');
  const { stdout } = await execa(program, ['hook', 'new', 'a.sh'], { cwd: directory });
  const [, next = ''] = stdout.split('try:\n');
  expect(next.trim()).toBe(`${program} hook test tests/a.hook-test.yaml`);
  const repeated = await execa('sh', ['-c', next], { cwd: directory });
  expect(repeated.stdout).toContain('1 passed, 0 failed');
  rmSync(directory, { recursive: true });
});
