import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseHelmYaml } from '@addon-operator/yaml';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StartedCommand } from '../test/support/started-command.ts';
import { writeKrewManifest } from './krew-manifest.ts';
import { packOperator } from './pack-operator.ts';

/** What the test reads of a manifest. */
interface KrewPlugin {
  readonly spec: { readonly platforms: readonly { readonly bin: string }[] };
}

const LIMIT = { timeout: 300_000 };
const root = join(import.meta.dirname, '..');
let directory = '';
let archive = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pack-operator-'));
  archive = await packOperator(directory, new AbortController().signal);
}, LIMIT.timeout);
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What a new user has: an empty home, and no programs of this repository. What npm and the operator have fetched is kept. */
async function newUser(): Promise<NodeJS.ProcessEnv> {
  const home = join(directory, 'home');
  const cache = join(directory, 'npm');
  await mkdir(home);
  await mkdir(cache);
  const { stdout: known } = await execa('npm', ['config', 'get', 'cache']);
  // npx installs beside what is fetched.
  await symlink(join(known.trim(), '_cacache'), join(cache, '_cacache'));
  const places = (process.env['PATH'] ?? '').split(delimiter);
  return {
    HOME: home,
    PATH: places.filter((place) => !place.includes('node_modules')).join(delimiter),
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    npm_config_cache: cache,
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
}

test('the packed operator has what it runs from, and nothing else', LIMIT, async () => {
  const { stdout } = await execa('tar', ['-tzf', archive]);
  const files = stdout.split('\n').map((file) => file.replace(/^package\//, ''));
  const examples = files.filter((file) => file.startsWith('examples/catalogue/'));
  expect(examples).toContain('examples/catalogue/103-schedule/README.md');
  const others = files.filter(
    (file) => !examples.includes(file) && !/^dist\/.+\.(?:js|js\.map|d\.ts|d\.ts\.map)$/.test(file),
  );
  expect(others.filter((file) => !file.startsWith('dist/')).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin/addon-operator',
    'frameworks/shell/context.sh',
    'frameworks/shell/hook.sh',
    'package.json',
    'shell_lib.sh',
  ]);
  const kinds = new Set(
    others.filter((file) => file.startsWith('dist/')).map((file) => file.split('.').at(-1)),
  );
  expect(kinds).toEqual(new Set(['css', 'gz', 'html', 'json', 'txt']));
  expect(
    files.filter((file) => /(?:^|\/)(?:test|bench|\.stamp|\.compile-cache)(?:\/|$)|\.test\./.test(file)),
  ).toEqual([]);
  for (const file of ['dist/main.js', 'dist/sdk.d.ts', 'dist/ui/index.html', 'dist/THIRD-PARTY-LICENSES.txt'])
    expect(files).toContain(file);
});

test('krew finds the program in the packed operator, which runs with a Node alone', LIMIT, async () => {
  const url = 'https://example.com/addon-operator.tgz';
  const path = await writeKrewManifest(archive, url);
  const { spec } = parseHelmYaml(await readFile(path, 'utf8')) as KrewPlugin;
  const [platform] = spec.platforms;
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  expect(platform).toMatchObject({ uri: url, sha256, files: [{ from: 'package/*', to: '.' }] });
  // As krew installs it: unpacked, with a link of the name of the plug-in.
  const store = join(directory, 'krew');
  const programs = join(directory, 'krew-bin');
  await Promise.all([mkdir(store), mkdir(programs)]);
  await execa('tar', ['-xzf', archive, '--strip-components=1', '-C', store]);
  await symlink(join(store, platform?.bin ?? ''), join(programs, 'kubectl-addons'));
  const { stdout } = await execa(join(programs, 'kubectl-addons'), ['--help'], {
    env: { ADDON_OPERATOR_NODE: process.execPath, HOME: directory },
  });
  expect(stdout).toContain('status');
});

test('the packed operator depends on nothing of a checkout', async () => {
  const { stdout } = await execa('tar', ['-xzOf', archive, 'package/package.json']);
  const manifest = JSON.parse(stdout) as Record<string, unknown>;
  const own: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  expect(own).toMatchObject({
    version: manifest['version'],
    optionalDependencies: manifest['optionalDependencies'],
  });
  expect(Object.keys(manifest).toSorted()).toEqual([
    'bin',
    'description',
    'engines',
    'exports',
    'license',
    'name',
    'optionalDependencies',
    'type',
    'version',
  ]);
  expect(stdout).not.toMatch(/file:|workspace:|\.ts"(?!,\n\s+"default")/);
});

test('a checkout is not packed by npm pack, which says what to use', async () => {
  const { exitCode, stderr } = await execa('npm', ['run', '--silent', 'prepack'], {
    cwd: root,
    reject: false,
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('npm run pack -- DIRECTORY')]);
});

test(
  'npx starts the sandbox of the packed operator in an empty directory, and a first module runs there',
  LIMIT,
  async () => {
    const env = await newUser();
    const place = join(directory, 'empty');
    await mkdir(place);
    await copyFile(archive, join(place, 'addon-operator.tgz'));
    const command = new StartedCommand('npx', ['--yes', './addon-operator.tgz', 'sandbox'], env, place);
    await command.until('What happens from now on');
    expect(readdirSync(place).toSorted()).toEqual([
      '.sandbox',
      'addon-operator.tgz',
      'global-hooks',
      'modules',
    ]);
    expect(command.output).toContain(`created the empty directory ${join(place, 'modules')}`);
    expect(command.output).toMatch(/^Converged in [\d.]+ s: 0 modules, 0 global hooks$/m);
    const [firstModule = ''] = /^.*addon-operator module new hello .*$/m.exec(command.output) ?? [];
    await execa('sh', ['-c', firstModule], { cwd: place, env, extendEnv: false });
    await command.until('module hello is deployed');
    const operator = /^\S+/.exec(firstModule)?.[0] ?? '';
    const tested = await execa(operator, ['hook', 'test', 'modules'], { cwd: place, env, extendEnv: false });
    expect(tested.stdout).toMatch(/[1-9]\d* passed, 0 failed, 0 skipped/);
    command.kill('SIGINT');
    // npx itself ends by the signal.
    await command.exitCode;
    expect(command.output).toContain('stopped; the state is kept in');
    expect(existsSync(join(place, '.sandbox/debug.socket'))).toBe(false);
  },
);
