import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { RULES } from '../../src/tools/lint/rules.ts';
import { projectRoot } from '../checks/checkout.ts';
import { bashBatch } from '../support/batch-hook.ts';
import { LINT_FIXTURES } from '../support/lint-fixtures.ts';
import { shHook, writeTree } from '../support/world-files.ts';

interface FindingJson {
  readonly rule: string;
  readonly level: string;
  readonly message: string;
}
interface ReportJson {
  readonly modules: readonly { readonly directory: string; readonly findings: readonly FindingJson[] }[];
}

/** Needs more than 256 MiB on disk: tested in the package. */
const WITHOUT_FIXTURE = ['too-big'];
const CODES = RULES.map(({ code }) => code);

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'module-lint-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function lint(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly text: string; readonly error: string }> {
  let [text, error] = ['', ''];
  const exitCode = await runCli(['module', 'lint', ...args], {
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    cwd,
    clock: systemClock,
    stdout: { write: (part: string) => (text += part) },
    stderr: { write: (part: string) => (error += part) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, text, error };
}

describe('fixtures of all rules', () => {
  let findings = new Map<string, readonly FindingJson[]>();
  let problem = '';
  beforeAll(async () => {
    const directories: string[] = [];
    for (const [code, { bad, good, plain = [] }] of Object.entries(LINT_FIXTURES))
      for (const [kind, tree] of Object.entries({ bad, good })) {
        const directory = `${code}/${kind}`;
        await writeTree(join(root, directory), tree);
        if (kind === 'bad') for (const file of plain) await chmod(join(root, directory, file), 0o644);
        directories.push(directory);
      }
    const { text, error } = await lint(root, ...directories, '-o', 'json', '--rule', ...CODES);
    problem = error;
    const { modules } = JSON.parse(text) as ReportJson;
    findings = new Map(modules.map((module) => [module.directory, module.findings]));
  });

  const findingsIn = (directory: string): readonly FindingJson[] =>
    [...findings].flatMap(([name, found]) => (name.startsWith(`${directory}/`) ? found : []));

  test('each rule has some', () => {
    expect(problem).toBe('');
    expect([...Object.keys(LINT_FIXTURES), ...WITHOUT_FIXTURE].toSorted()).toEqual(CODES.toSorted());
  });

  test.each(Object.entries(LINT_FIXTURES))('%s finds the bad module', (code, { message }) => {
    const level = RULES.find((rule) => rule.code === code)?.level;
    expect(findingsIn(`${code}/bad`)).toContainEqual(
      expect.objectContaining({ rule: code, level, message: expect.stringContaining(message) }),
    );
  });

  test.each(Object.keys(LINT_FIXTURES))('%s finds nothing in the good module', (code) => {
    const found = findingsIn(`${code}/good`);
    expect(found.filter(({ rule }) => rule === code)).toEqual([]);
    const errors = found.filter(({ level }) => level === 'error');
    expect(errors).toEqual([]);
  });
});

test('--fix mends modes and line ends, and then all is well', async () => {
  const directory = join(root, 'fixed');
  await writeTree(directory, {
    'modules/030-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
    'modules/030-web/hooks/a.sh': shHook('beforeHelm: 1', 'true').replaceAll('\n', '\r\n'),
  });
  await chmod(join(directory, 'modules/030-web/hooks/a.sh'), 0o644);
  const { text } = await lint(directory, '--fix');
  expect(text).toBe('1 module: 0 errors, 0 warnings\n2 fixed: check again\n');
  const hook = join(directory, 'modules/030-web/hooks/a.sh');
  expect((await stat(hook)).mode & 0o777).toBe(0o755);
  expect(await readFile(hook, 'utf8')).not.toContain('\r');
  expect(await lint(directory)).toEqual({ exitCode: 0, text: '1 module: 0 errors, 0 warnings\n', error: '' });
});

/** The host puts all bindings of a batch hook into one group: several queues are no finding. */
const QUEUES = { schedule: [{ crontab: '@daily' }, { name: 'b', crontab: '@hourly', queue: 'q' }] };

test('a finding about a batch file names the hook of the file, and one that cannot be loaded its index', async () => {
  const directory = join(root, 'batch');
  const twice = { schedule: ['a', 'a'].map((name) => ({ name, crontab: '* * * * *' })) };
  const manifest = 'batchHooks: [batch, broken]\n';
  await writeTree(directory, {
    'modules/030-web/module.yaml': manifest,
    'modules/030-web/hooks/batch': bashBatch({ hooks: { fine: QUEUES, twice } }),
    'modules/030-web/hooks/broken': bashBatch({ hooks: { fine: {}, bad: { often: 1 } } }),
  });
  const { text } = await lint(directory, '-o', 'json');
  const { modules } = JSON.parse(text) as ReportJson;
  expect(text).not.toContain('group-over-queues');
  expect(modules[0]?.findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        rule: 'binding-name-twice',
        message: "hooks/batch:twice:1 has several bindings with the name 'a'",
      }),
      expect.objectContaining({
        rule: 'hook-config-invalid',
        path: 'hooks/broken',
        message: expect.stringContaining("hooks[1] 'bad': .often is a forbidden property"),
      }),
    ]),
  );
});

test('an exclusion needs a reason, --strict counts warnings, and each format has the findings', async () => {
  const directory = join(root, 'formats');
  await writeTree(directory, {
    'modules/030-web/values.yaml': 'web: {token: 0123456789}\nwebEnabled: "true"\n',
    'modules/030-web/enabled': '#!sh\nexit 0\n',
    'modules/030-web/.module-lint.yaml':
      'exclude:\n- {rule: shebang, reason: "one system"}\n- {rule: shebangs, reason: none}\n',
  });
  const { exitCode, text } = await lint(directory, 'modules/030-web');
  expect([exitCode, text]).toEqual([
    1,
    'modules/030-web\n' +
      '  error   .module-lint.yaml: exclude[1].rule: there is no rule shebangs (did you mean "shebang"?) (exclusion-invalid)\n' +
      '1 module: 1 error, 0 warnings, 1 excluded\n',
  ]);
  const sarif = JSON.parse((await lint(directory, '-o', 'sarif')).text) as {
    readonly runs: readonly { readonly results: readonly object[] }[];
  };
  expect(sarif.runs[0]?.results).toMatchObject([
    {
      ruleId: 'exclusion-invalid',
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'modules/030-web/.module-lint.yaml' } } }],
    },
  ]);
  expect((await lint(directory, '-o', 'junit')).text).toContain(
    '<testcase classname="modules/030-web/.module-lint.yaml" name="exclusion-invalid">',
  );
  expect((await lint(directory, '-o', 'github')).text).toMatch(
    /^::error file=modules\/030-web\/\.module-lint\.yaml,title=exclusion-invalid::/,
  );
  await writeTree(directory, { 'modules/030-web/.module-lint.yaml': 'exclude: []\n' });
  expect((await lint(directory)).exitCode).toBe(0);
  expect((await lint(directory, '--strict')).exitCode).toBe(1);
});

test('explains a rule, and says what is wrong with the arguments', async () => {
  expect((await lint(root, '--explain', 'crontab-never')).text).toMatch(/^crontab-never \(warning\)\n/);
  expect((await lint(root, '--explain', 'crontab-nevr')).error).toContain('did you mean "crontab-never"?');
  expect(await lint(root, 'nowhere')).toMatchObject({
    exitCode: 1,
    error: expect.stringContaining('nowhere is no directory'),
  });
  await writeTree(join(root, 'empty'), { 'modules/values.yaml': '{}\n' });
  expect((await lint(root, 'empty/modules')).error).toContain('there are no modules in empty/modules');
});

test('the starter modules and the examples are clean', async () => {
  const { text } = await lint(projectRoot, 'modules', ...EXAMPLES, '--strict');
  expect(text).toMatch(/^\d+ modules: 0 errors, 0 warnings(?:, \d+ excluded)?\n$/);
  const delivered = await lint(projectRoot, 'modules', '--strict', '--profile', 'delivery');
  expect(delivered.text).toBe('3 modules: 0 errors, 0 warnings\n');
});

/** Those of examples/ that have modules. */
const EXAMPLES = [
  'batch-hook/modules',
  'catalogue/101-module-sysctl-tuner/modules',
  'catalogue/201-sysctl-tuner-values/modules',
  'catalogue/202-module-symlinks/module_dir_1',
  'catalogue/202-module-symlinks/module_storage',
  'catalogue/700-typescript-hook/modules',
  'config-values-from-a-hook/modules',
  'continuous-reconcile/modules',
  'deploy-notifier/modules',
  'enabled-script/modules',
  'error-classifier/modules',
  'http-hook/modules',
  'in-process-hook/modules',
  'module-with-values-from-a-hook/modules',
  'reconcile-webhook/modules',
  'secret-reference/modules',
  'signed-module/modules',
  'symlinked-module/modules',
  'symlinked-module/team-modules',
  'values-schema/modules',
].map((path) => `examples/${path}`);
