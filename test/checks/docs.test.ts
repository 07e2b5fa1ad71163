import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ERROR_CODES } from '@addon-operator/base/errors';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { createRunFiles } from '../../src/hooks/run-files.ts';
import { SETTINGS } from '../../src/settings.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { projectRoot } from './checkout.ts';

const ROWS: readonly { readonly flag?: string; readonly env: readonly string[] }[] = Object.values(SETTINGS);

/** The pages for users; what generates or compares the others stands in tests of their own. */
const PAGES = [
  'README.md',
  ...['docs', 'docs/hooks'].flatMap((directory) =>
    readdirSync(join(projectRoot, directory))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${directory}/${name}`),
  ),
];

/** Flags of commands other than `start`, and of kubectl, helm, docker, npm, apt-get and pip. */
const OTHER_FLAGS = new Set(
  'runs as-test with-secrets module hook queue event binding object cluster failed drop key serial write for reason until replicas config state-dir reset sandbox-port help diff debug type all force history-max timeout install create-namespace set values no-color color take-ownership max-semi-space-size webhooks stop-deployment filter fix rule profile strict explain lang on order bundle dir with update watch jobs wrap apply coverage global-values reuse-values wait tail selector report copies no-install-recommends no-cache-dir from no-index find-links omit chmod argfile slurpfile allow-actions channel since version sign cosign-key keyring name server-side field-manager filename now to with-values keep older-than dry-run store open kubeconfig context pod problems template follow global-hooks-dir out for clusterrole group user duration audience alpha-config email-domain oidc-username-prefix krew-url manifest'.split(
    ' ',
  ),
);

/** Read by OpenTelemetry, or named in its place. */
const TRACE_VARIABLES = /^(?:OTEL_[A-Z_]+|TRACING_OTLP_ENDPOINT|TRACEPARENT)$/;

/** Variables that are neither settings nor names of hook files; the contract or the sources define them. */
const OTHER_VARIABLES = [
  'ADDON_OPERATOR_CACHE_DIR',
  'ADDON_OPERATOR_KUBE_ALLOW_UNSAFE',
  'ADDON_OPERATOR_RUN',
  'CRON_TZ',
  'FRAMEWORK_DIR',
  'MODULE_ENABLED_REASON',
  'MODULE_ENABLED_RESULT',
  'MODULE_NAME',
  'NODE_EXTRA_CA_CERTS',
  'NO_COLOR',
  'OAUTH2_PROXY_COOKIE_SECRET',
  'PYTHONDONTWRITEBYTECODE',
  'RETRY_PATH',
  'SETTINGS_PATH',
];

/** What refuses the start, listed in the generated page. */
const REMOVED_VARIABLES = /^(?:TILLER|ADDON_OPERATOR_TILLER)_/;

/** Directories whose pages are not ours, or not part of the checkout. */
const NOT_OURS = /^(?:node_modules|dist|\..*)$/;

/** Every page of the checkout, those for contributors and of examples included. */
const ALL_PAGES = readdirSync(projectRoot, { withFileTypes: true })
  .filter(({ name }) => !NOT_OURS.test(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(projectRoot, entry.name), { recursive: true, encoding: 'utf8' }).map((path) =>
          join(entry.name, path),
        )
      : [entry.name],
  )
  .filter((path) => path.endsWith('.md'));

test('all pages are checked for dead links', () => {
  expect(ALL_PAGES).toEqual(
    expect.arrayContaining([...PAGES, 'CONTRIBUTING.md', 'docs/adr/003-own-task-queue.md']),
  );
});

test.each(ALL_PAGES)('links of %s lead to files and headings that exist', (page) => {
  const dead = linksOf(textOf(page)).filter((target) => !isAlive(page, target));
  expect(dead).toEqual([]);
});

test.each(PAGES)('flags in %s exist', (page) => {
  const settings = new Set(ROWS.map(({ flag }) => flag));
  const flags = [...textOf(page).matchAll(/(?<![\w-])--([a-z][a-z-]+)/g)].map(([, flag = '']) => flag);
  expect(flags.filter((flag) => !settings.has(flag) && !OTHER_FLAGS.has(flag))).toEqual([]);
});

// The page of errors is full of codes that look like variables, and has a test of its own.
test.each(PAGES.filter((page) => page !== 'docs/errors.md'))('variables in %s exist', (page) => {
  const known = new Set([
    ...ROWS.flatMap(({ env }) => env),
    ...hookVariables(),
    ...OTHER_VARIABLES,
    ...ERROR_CODES,
  ]);
  const named = [...textOf(page).matchAll(/(?<![\w-])[A-Z][A-Z0-9]*_[A-Z0-9_]+(?![\w-])/g)].map(
    ([name]) => name,
  );
  expect(
    named.filter(
      (name) =>
        !known.has(name) &&
        !TRACE_VARIABLES.test(name) &&
        !REMOVED_VARIABLES.test(name) &&
        !name.endsWith('_'),
    ),
  ).toEqual([]);
});

test.each(PAGES)('JSON and YAML samples of %s can be parsed', (page) => {
  expect(samplesOf(page).flatMap(problemOf)).toEqual([]);
});

test('commands in the documentation exist', async () => {
  const named = PAGES.flatMap((page) => [
    ...textOf(page).matchAll(/bin\/addon-operator ((?:[a-z][a-z-]* ?)+)/g),
    ...textOf(page).matchAll(/`((?:queue|module|global|config) [a-z-]+)[^`]*`/g),
  ]).map(([, words = '']) => words.trim());
  expect(named).toContain('queue list');
  expect(named).toContain('module resource-monitor');
  for (const command of new Set(named)) expect([command, await isCommand(command)]).toEqual([command, true]);
});

test('the commands of every day exist, with their flags', async () => {
  const rows = [...textOf('docs/daily-commands.md').matchAll(/^\| `([a-z][^`]*)` \|/gm)].map(
    ([, row = '']) => row,
  );
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const [words = ''] = /^[a-z]+(?: [a-z]+)*/.exec(row) ?? [];
    const help = await outputOf(...words.split(' '), '--help');
    const flags = row.match(/(?<= )--?[a-z]+/g) ?? [];
    expect([row, await isCommand(words), flags.filter((flag) => !help.includes(flag))]).toEqual([
      row,
      true,
      [],
    ]);
  }
});

test('every command is on the page about running the operator', async () => {
  const page = textOf('docs/running.md');
  const named = (await commandsOf()).flatMap(async (command) => {
    const subcommands = await commandsOf(command);
    return subcommands.length === 0 ? [command] : subcommands.map((sub) => `${command} ${sub}`);
  });
  const missing = (await Promise.all(named))
    .flat()
    .filter((command) => command !== 'help' && !new RegExp(`[\\s\`]${command}[\\s\`]`).test(page));
  expect(missing).toEqual([]);
});

test('commands in a pod name the Deployment that the page before them installs', () => {
  const page = textOf('docs/running.md');
  const installed = [...page.matchAll(/helm upgrade --install (\S+) deploy\/addon-operator/g)];
  const called = [...page.matchAll(/exec deploy\/([\w-]+) --/g)];
  expect(called.length).toBeGreaterThan(0);
  // The chart names it after the release.
  expect(new Set(called.map(([, name]) => name))).toEqual(new Set(installed.map(([, release]) => release)));
});

/** Files and directories that contributors edit, relative to the checkout; directories end with `/`. */
const SOURCES = ['src', 'packages', 'ui', 'test', 'bin', 'docs', 'examples'].flatMap((root) => [
  `/${root}/`,
  ...readdirSync(join(projectRoot, root), { recursive: true, withFileTypes: true })
    .filter(({ parentPath }) => !parentPath.includes('node_modules'))
    .map(
      (entry) =>
        `/${relative(projectRoot, join(entry.parentPath, entry.name))}${entry.isDirectory() ? '/' : ''}`,
    ),
]);
/** Of users, or built. */
const NOT_SOURCES = ['customizations/', 'dist/ui/', 'dist/'];
const PAGES_OF_CONTRIBUTORS = ALL_PAGES.filter((page) =>
  /^(?:src|packages)\/.*README\.md$|^CONTRIBUTING\.md$|^docs\/architecture\.md$/.test(page),
);

test.each(PAGES_OF_CONTRIBUTORS)('sources that %s names exist', (page) => {
  const prose = textOf(page).replaceAll(/^```[^]*?^```$/gm, '');
  const named = [...prose.matchAll(/`([\w./-]+(?:\w\.tsx?|\/))`/g)].map(([, name = '']) =>
    name.replace(/^(?:\.\.?\/)+/, ''),
  );
  const exists = (name: string): boolean => SOURCES.some((source) => source.endsWith(`/${name}`));
  expect(named.filter((name) => !exists(name) && !NOT_SOURCES.includes(name))).toEqual([]);
});

test('the index links to every page', () => {
  const index = linksOf(textOf('docs/README.md')).map((target) => join('docs', target.split('#')[0] ?? ''));
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !index.includes(page))).toEqual([]);
});

test('the license of the package is that of the file LICENSE', () => {
  const { license } = JSON.parse(textOf('package.json')) as { readonly license: string };
  expect(license).toBe('Apache-2.0');
  expect(textOf('LICENSE')).toMatch(/^\s+Apache License\s+Version 2\.0, January 2004\s/);
});

test('the README mentions every example', () => {
  const readme = textOf('README.md');
  const examples = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const missing = examples.filter(({ name }) => !readme.includes(`(examples/${name}/README.md)`));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

interface Sample {
  readonly language: string;
  readonly text: string;
}

function samplesOf(page: string): Sample[] {
  const fences = textOf(page).matchAll(/^```(\w+)\n([^]*?)^```$/gm);
  return [...fences].map(([, language = '', text = '']) => ({ language, text }));
}

function problemOf({ language, text }: Sample): string[] {
  try {
    if (language === 'json') JSON.parse(text);
    if (language === 'yaml') loadAll(text);
    return [];
  } catch (error) {
    return [`${String(error)}:\n${text}`];
  }
}

/** Targets of links outside of code, without those to other sites. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target));
}

function isAlive(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(projectRoot, file))) return false;
  return anchor === undefined || headingsOf(file).includes(anchor);
}

/** Anchors of the headings, as GitHub makes them. */
function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function hookVariables(): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'docs-'));
  const files = createRunFiles(directory, 'docs', { bindingContext: '', values: '', configValues: '' });
  rmSync(directory, { recursive: true });
  return Object.keys(files.env);
}

/** What can stand behind these words, as a shell would complete it. */
async function commandsOf(...words: readonly string[]): Promise<string[]> {
  return (await outputOf('__complete', '--', ...words, '')).split('\n').filter((word) => word !== '');
}

/** Whether help knows all words, or takes what follows the known ones for an argument. */
async function isCommand(command: string): Promise<boolean> {
  const help = await outputOf(...command.split(' '), '--help');
  const [usage = ''] = help.split('\n');
  const known = /^Usage: addon-operator ((?:[a-z-]+ )*)/.exec(usage)?.[1]?.trim() ?? '';
  const takesArguments = /<|\[(?!(?:options|command)\])[a-z]+(?:\.\.\.)?\]/.test(usage);
  return known === command || (known !== '' && command.startsWith(`${known} `) && takesArguments);
}

async function outputOf(...args: readonly string[]): Promise<string> {
  let said = '';
  const output = {
    write: (text: string) => {
      said += text;
    },
  };
  const host = {
    env: {},
    cwd: projectRoot,
    clock: new FakeClock(),
    stdout: output,
    stderr: output,
    stopSignal: () => new AbortController().signal,
  };
  await runCli(args, host);
  return said;
}

function textOf(page: string): string {
  return readFileSync(join(projectRoot, page), 'utf8');
}
