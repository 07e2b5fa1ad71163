import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'new-files-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Said {
  readonly exitCode: number;
  readonly text: string;
}

async function run(...args: readonly string[]): Promise<Said> {
  let text = '';
  const output = { write: (part: string) => (text += part) };
  const exitCode = await runCli(args, {
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    cwd: directory,
    clock: systemClock,
    stdout: output,
    stderr: output,
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, text };
}

/** Compiles the standard library once, which takes longer than `--config` of a hook may take on a slow machine. */
async function hasGo(): Promise<boolean> {
  try {
    await promisify(execFile)('go', ['version']);
    return true;
  } catch {
    return false;
  }
}

const TRIGGERS: readonly (readonly [string, string])[] = [
  ['greets', 'beforeHelm'],
  ['starts', 'onStartup'],
  ['ticks', 'schedule:@hourly'],
  ['watches', 'kubernetes:v1/ConfigMap'],
  ['secrets', 'kubernetes:v1/Secret'],
  ['services', 'kubernetes:v1/Service'],
  ['validates', 'validating:apps/v1/deployments'],
  ['custom', 'kubernetes:example.com/v1/Gadget'],
];

describe.each(['sh', 'python', 'ts'])('hook new --lang %s', (language) => {
  test('writes hooks for all triggers, and their tests pass at once', async () => {
    const module = `modules/010-${language}`;
    for (const [name, trigger] of TRIGGERS) {
      const said = await run('hook', 'new', `${module}/hooks/${name}`, '--lang', language, '--on', trigger);
      expect(said).toEqual({
        exitCode: 0,
        text: expect.stringContaining(`addon-operator hook test ${module}/tests/${name}.hook-test.yaml`),
      });
    }
    expect(await run('hook', 'test', module)).toEqual({
      exitCode: 0,
      text: expect.stringMatching(/\n7 passed, 0 failed, 1 skipped\n$/),
    });
    const { exitCode, text } = await run('module', 'lint', module);
    expect([exitCode, text]).toEqual([0, expect.stringContaining('(kind-unknown)')]);
    expect(text).toMatch(/\n1 module: 0 errors, 1 warning\n$/);
  });
});

test('the hooks of a template pass their tests where they are written', async () => {
  const said = await run('hook', 'new', 'templates/hooks', '--template', 'monitor-pods');
  expect(said).toEqual({ exitCode: 0, text: expect.stringContaining('hook test templates/tests') });
  expect((await run('hook', 'test', 'templates')).text).toMatch(/\n1 passed, 0 failed, 0 skipped\n$/);
});

/** A request that the new validating hook gets; `hook new` cannot write it, because it does not know the kind. */
const REQUEST = `hook: HOOK
cases:
- name: allows
  steps:
  - admission:
      binding: validates.example.com
      object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
`;

test.each(['sh', 'python', 'ts'])(
  'hook new --lang %s writes a validating hook that allows requests',
  async (language) => {
    const module = `modules/050-allows-${language}`;
    const hook = `${module}/hooks/validates`;
    const { text: written } = await run(
      'hook',
      'new',
      hook,
      '--lang',
      language,
      '--on',
      'validating:v1/configmaps',
    );
    const [path = ''] = written.split('\n');
    await writeFile(
      join(directory, module, 'tests/request.hook-test.yaml'),
      REQUEST.replace('HOOK', `hooks/${basename(path)}`),
    );
    const { exitCode, text } = await run('hook', 'test', module);
    expect([exitCode, text]).toEqual([0, expect.stringMatching(/\n2 passed, 0 failed, 0 skipped\n$/)]);
  },
);

test('hook new writes global hooks, and HTTP hooks whose test waits for a server', async () => {
  await run('hook', 'new', 'global-hooks/facts.py');
  await run('hook', 'new', 'global-hooks/remote.http.yaml');
  const { exitCode, text } = await run('hook', 'test', 'tests');
  expect(text).toContain('skipped runs at onStartup: start the server that address names');
  expect([exitCode, text]).toEqual([0, expect.stringMatching(/\n1 passed, 0 failed, 1 skipped\n$/)]);
});

test('hook new --lang go writes a program', async ({ skip }) => {
  if (!(await hasGo())) skip('there is no go');
  await run('hook', 'new', 'modules/020-go/hooks/records', '--lang', 'go');
  const source = join(directory, 'modules/020-go/hooks/lib/records/main.go');
  await promisify(execFile)('go', ['build', '-o', join(directory, 'warm'), source]);
  const { exitCode, text } = await run('hook', 'test', 'modules/020-go');
  expect([exitCode, text]).toEqual([0, expect.stringMatching(/\n1 passed, 0 failed, 0 skipped\n$/)]);
});

test('module new writes a module that passes its tests and has no findings', async () => {
  const said = await run('module', 'new', 'web-shop', '--order', '40', '--with', 'chart,schema,hook,crd');
  const module = 'modules/040-web-shop';
  expect(said).toEqual({
    exitCode: 0,
    text: `${module}/values.yaml
${module}/openapi/config-values.yaml
${module}/Chart.yaml
${module}/.helmignore
${module}/templates/config-map.yaml
${module}/crds/web-shop.yaml
${module}/hooks/web-shop.sh
${module}/tests/hook-test.schema.json
${module}/tests/web-shop.hook-test.yaml
try:
  addon-operator hook test ${module}
  addon-operator module lint ${module}
`,
  });
  expect((await stat(join(directory, module, 'hooks/web-shop.sh'))).mode & 0o777).toBe(0o755);
  expect(await readFile(join(directory, module, 'values.yaml'), 'utf8')).toBe('webShopEnabled: true\n');
  const tested = await run('hook', 'test', module);
  expect([tested.exitCode, tested.text]).toEqual([
    0,
    expect.stringMatching(/\n1 passed, 0 failed, 0 skipped\n$/),
  ]);
  expect(await run('module', 'lint', module, '--strict')).toEqual({
    exitCode: 0,
    text: '1 module: 0 errors, 0 warnings\n',
  });
});

test('module new writes into the first directory of --modules-dir', async () => {
  const { exitCode, text } = await run(
    'module',
    'new',
    'dns',
    '--modules-dir',
    'more:modules',
    '--with',
    'hook',
  );
  expect([exitCode, text.split('\n')[0]]).toEqual([0, 'more/030-dns/values.yaml']);
  expect(await readdir(join(directory, 'modules'))).not.toContain('030-dns');
});

test('files that exist are not overwritten, and nothing is written beside them', async () => {
  await run('hook', 'new', 'modules/050-kept/hooks/a.sh');
  const said = await run('hook', 'new', 'modules/050-kept/hooks/a.sh', '--on', 'afterHelm');
  expect(said).toEqual({ exitCode: 1, text: expect.stringContaining('because these files exist') });
  expect(await run('hook', 'new', 'modules/050-kept/hooks/a.py')).toMatchObject({ exitCode: 1 });
  expect(await readdir(join(directory, 'modules/050-kept/hooks'))).toEqual(['a.sh']);
  expect(await readFile(join(directory, 'modules/050-kept/hooks/a.sh'), 'utf8')).toContain('beforeHelm: 10');
});

test.each([
  [['hook', 'new', 'hooks/.hidden'], 'cannot be the name of a hook'],
  [['hook', 'new', 'modules/010-a/hooks/lib/a.sh'], 'hooks in a directory named lib are never run'],
  [['hook', 'new', 'modules/010-a/hooks/a.py', '--lang', 'sh'], 'the name of a hook in python, not in sh'],
  [['hook', 'new', 'modules/010-a/hooks/a', '--on', 'beforeHlm'], 'did you mean "beforeHelm"?'],
  [
    ['hook', 'new', 'modules/010-a/hooks/a', '--on', 'schedule:often'],
    '--on schedule:often: Cannot use crontab',
  ],
  [['hook', 'new', 'modules/010-a/hooks/a', '--on', 'kubernetes:Pod'], 'write kubernetes:APIVERSION/KIND'],
  [['hook', 'new', 'global-hooks/a', '--on', 'beforeHelm'], 'write one of onStartup, beforeAll, afterAll'],
  [['module', 'new', 'Web'], 'should be in kebab-case'],
  [['module', 'new', '../web'], 'should be in kebab-case'],
  [['module', 'new', 'web', '--with', 'charts'], 'did you mean "chart"?'],
  [['module', 'new', 'web', '--order', 'first'], '--order must be a number'],
])('%j says what is wrong and writes nothing', async (args, message) => {
  const before = await readdir(directory, { recursive: true });
  const { exitCode, text } = await run(...args);
  expect([exitCode, text]).toEqual([1, expect.stringContaining(message)]);
  expect(await readdir(directory, { recursive: true })).toEqual(before);
});
