import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PINNED_HELM_VERSIONS, PINNED_KUBECTL_VERSION } from '../../src/tools/pinned-tools.ts';
import { HELM_VERSIONS } from '../support/control-plane/programs.ts';
import { JQ_VERSION } from '../support/jq/jq-program.ts';
import { projectRoot, smallCheckout } from './checkout.ts';
import { copiesOf, stagesOf, textsOf } from './dockerfile.ts';

const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
const TOOLS = ['helm', 'kubectl', 'jq'];
const stages = stagesOf(dockerfile);
const [build, final, ...more] = stages.filter(({ name }) => !TOOLS.includes(name));
const ignored = readFileSync(join(projectRoot, '.dockerignore'), 'utf8').split('\n');

test('the image has a build stage and a final stage on the same Alpine Linux', () => {
  expect([build?.name, build?.base]).toEqual(['build', `node:24-alpine$\{ALPINE_VERSION}`]);
  expect([final?.name, final?.base]).toEqual(['', `alpine:$\{ALPINE_VERSION}`]);
  expect(more).toEqual([]);
});

test('everything the build copies exists and is not ignored', () => {
  const sources = build === undefined ? [] : copiesOf(build).flatMap((copy) => copy.sources);
  expect(sources.length).toBeGreaterThan(0);
  expect(sources.filter((source) => !existsSync(join(projectRoot, source)))).toEqual([]);
  const isIncluded = (path: string): boolean =>
    path !== '.' && (ignored.includes(`!${path}`) || isIncluded(dirname(path)));
  expect(sources.filter((source) => !isIncluded(source))).toEqual([]);
});

test('npm finds every package of the workspace in the image, where only native packages are left', () => {
  const copies = build === undefined ? [] : copiesOf(build);
  for (const name of readdirSync(join(projectRoot, 'packages'))) {
    const manifest = `packages/${name}/package.json`;
    expect(copies).toContainEqual({ from: undefined, sources: [manifest], target: `./${manifest}` });
  }
  const removed = build === undefined ? '' : textsOf(build, 'RUN').join(' ');
  expect(removed).toContain(
    'find node_modules -mindepth 1 -maxdepth 1 ! -name koffi ! -name @koromix -exec rm',
  );
});

test('the tools in the image are those that the tests run with', () => {
  const versions = TOOLS.map((name) => {
    const { base = '' } = stages.find((stage) => stage.name === name) ?? {};
    const argument = /^\$\{(\w+)\}$/.exec(base)?.[1] ?? '';
    return new RegExp(`^ARG ${argument}=[^:\\s]+:v?([\\d.]+)$`, 'm').exec(dockerfile)?.[1];
  });
  expect(versions).toEqual([PINNED_HELM_VERSIONS[3], PINNED_KUBECTL_VERSION, JQ_VERSION]);
  expect(HELM_VERSIONS).toContain(versions[0]);
});

test('the tools are static programs at the paths where hooks look for them', () => {
  const copies = final === undefined ? [] : copiesOf(final).filter(({ from }) => from !== 'build');
  expect(copies).toEqual([
    { from: 'helm', sources: ['/usr/bin/helm'], target: '/bin/helm' },
    { from: 'kubectl', sources: ['/bin/kubectl'], target: '/bin/kubectl' },
    { from: 'jq', sources: ['/jq'], target: '/usr/bin/jq' },
  ]);
  expect(
    stages.filter(({ name }) => TOOLS.includes(name)).flatMap(({ instructions }) => instructions),
  ).toEqual([]);
});

test('the final stage copies everything but the tools from the build, and no build tools', () => {
  const copies = final === undefined ? [] : copiesOf(final).filter(({ from = '' }) => !TOOLS.includes(from));
  expect(copies.map(({ from }) => from)).toEqual(copies.map(() => 'build'));
  expect(copies.flatMap(({ sources }) => sources)).toEqual([
    '/usr/local/bin/node',
    '/app/package.json',
    '/app/bin/addon-operator',
    '/app/node_modules',
    '/app/dist',
    '/app/shell_lib.sh',
    '/app/frameworks/shell',
  ]);
  const packages = /apk add --no-cache ([^&]+)/.exec(
    final === undefined ? '' : textsOf(final, 'RUN').join(' '),
  )?.[1];
  expect(packages?.trim()).toBe('bash ca-certificates libstdc++ sed tini');
});

test('the library for bash hooks is where hooks source it', () => {
  const targets = final === undefined ? [] : copiesOf(final).map(({ target }) => target);
  expect(targets).toEqual(expect.arrayContaining(['/shell_lib.sh', '/frameworks/shell']));
});

test('the image runs as a user that is not root, under tini, with the paths of the contract', () => {
  const text = (name: string): string => (final === undefined ? '' : textsOf(final, name).join(' '));
  expect(text('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(text('WORKDIR')).toBe('/');
  expect(JSON.parse(text('ENTRYPOINT'))).toEqual(['/sbin/tini', '--', '/addon-operator']);
  expect(text('CMD')).toBe('');
  expect(text('EXPOSE')).toBe('9650');
  expect(text('ENV').split(' ')).toEqual([
    'ADDON_OPERATOR_NODE=/usr/local/bin/node',
    'MODULES_DIR=/modules',
    'GLOBAL_HOOKS_DIR=/global-hooks',
    'FRAMEWORK_DIR=/',
    'LOG_TYPE=json',
    'NODE_ENV=production',
  ]);
  for (const needed of ['mkdir -p /modules /global-hooks', 'ln -s /app/bin/addon-operator /addon-operator']) {
    expect(text('RUN')).toContain(needed);
  }
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
