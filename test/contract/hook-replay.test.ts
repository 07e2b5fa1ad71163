import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Recording } from '../../src/recordings/hook-recordings.ts';
import { shHook, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };
const RUNS = 500;
const CONFIG = `kubernetes:
- {name: pods, apiVersion: v1, kind: Pod, executeHookOnSynchronization: false, jqFilter: .metadata.name}`;

/** Writes the class of a pod: the changed hook decides otherwise for the pods of one namespace. */
const classOf = (rule: string): string =>
  shHook(
    CONFIG,
    `read -r context < "$BINDING_CONTEXT_PATH"
name=\${context#*\\"name\\":\\"}; name=\${name%%\\"*}
namespace=\${context#*\\"namespace\\":\\"}; namespace=\${namespace%%\\"*}
class=small
${rule}
echo '{"name": "classes", "set": 1, "labels": {"class": "'$class'"}}' > "$METRICS_PATH"
printf '{"operation": "MergePatch", "apiVersion": "v1", "kind": "Pod", "namespace": "%s", "name": "%s", "mergePatch": {"metadata": {"labels": {"class": "%s"}}}}' $namespace $name $class > "$KUBERNETES_PATCH_PATH"`,
  );
const BEFORE = classOf('');
const CHANGED = classOf('if [ $namespace = legacy ]; then class=large; fi');

const ENV = ['PATH'];

function recordingOf(index: number, changes: Partial<Recording> = {}): Recording {
  const namespace = index === 123 || index === 321 ? 'legacy' : 'shop';
  const name = `web-${index}`;
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } };
  const patch = {
    operation: 'MergePatch',
    apiVersion: 'v1',
    kind: 'Pod',
    namespace,
    name,
    mergePatch: { metadata: { labels: { class: 'small' } } },
  };
  return {
    version: 1,
    at: '2026-05-01T10:00:00.000Z',
    operator: '0.1.0',
    hook: 'classes.sh',
    module: '',
    binding: 'pods',
    config: {},
    contexts: [{ binding: 'pods', type: 'Event', watchEvent: 'Added', object, filterResult: name }],
    values: { global: { enabledModules: [] } },
    configValues: { global: {} },
    env: ENV,
    secrets: 'masked',
    durationMs: 4,
    outputs: {
      configValuesPatch: '',
      valuesPatch: '',
      metrics: '{"name": "classes", "action": "set", "value": 1.0, "labels": {"class": "small"}}',
      kubernetesPatch: JSON.stringify(patch, undefined, 1),
      admissionResponse: '',
      conversionResponse: '',
    },
    ...changes,
  };
}

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-replay-'));
  await mkdir(join(directory, 'recordings'));
});
afterEach(() => rm(directory, { recursive: true }));

const write = async (recordings: readonly Recording[]): Promise<void> => {
  for (const [index, recording] of recordings.entries())
    await writeFile(
      join(directory, 'recordings', `${String(index).padStart(4, '0')}.json`),
      JSON.stringify(recording),
    );
};

async function replay(line = '', stop = new AbortController().signal) {
  const said = { stdout: '', stderr: '' };
  const exitCode = await runCli(['hook', 'replay', ...line.split(' ').filter((word) => word !== '')], {
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: directory,
      TMPDIR: directory,
    },
    cwd: directory,
    clock: systemClock,
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => stop,
  });
  const left = (await readdir(directory)).filter((name) => name.startsWith('addon-operator-'));
  return { exitCode, ...said, left };
}

describe('hook replay', () => {
  test('shows in which of the last 500 runs a changed hook writes anything else', {
    timeout: 180_000,
  }, async () => {
    await write(Array.from({ length: RUNS }, (_, index) => recordingOf(index)));
    await writeTree(directory, { 'global-hooks/classes.sh': CHANGED });
    const { exitCode, stdout } = await replay();
    expect(stdout).toContain(`differs recordings/0123.json: classes.sh for pods
`);
    expect(stdout).toContain(`-           class: small
`);
    expect(stdout).toContain(`+           class: large
`);
    expect(stdout).toContain('differs recordings/0321.json');
    expect(stdout).toMatch(/\n500 recorded runs on today's hooks: 498 same, 2 differ\n$/);
    expect(exitCode).toBe(1);
  });

  test.each<[string, string, string]>([
    [
      'fails',
      shHook(CONFIG, 'echo "no issuer" >&2; exit 3'),
      "failed recordings/0000.json: classes.sh for pods\n  global hook 'classes.sh' failed: no issuer\n",
    ],
    ['writes garbage', shHook(CONFIG, 'echo "{" > "$METRICS_PATH"'), "classes.sh' wrote bad metrics"],
    ['hangs', shHook(CONFIG, 'exec sleep 600'), 'it ran longer than its limit of 1 s'],
    [
      'depends on chance',
      shHook(CONFIG, `echo '{"name": "a", "set": '$$'}' > "$METRICS_PATH"`),
      'impure recordings/0000.json: classes.sh for pods\n  two runs with the same input differ',
    ],
    [
      'reads the cluster',
      shHook(
        CONFIG,
        `node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/pods").then(() => process.exit(0));'`,
      ),
      'it calls the Kubernetes API itself, whose state is not recorded: GET /api/v1/pods',
    ],
    [
      'lost the binding',
      shHook('onStartup: 1', ':'),
      "the hook has no binding 'pods' any more; it has onStartup",
    ],
  ])('reports a hook that %s, and replays the other recordings', async (_what, hook, expected) => {
    await write([recordingOf(0), recordingOf(1, { hook: 'hooks/same.sh', module: 'web' })]);
    await writeTree(directory, {
      'global-hooks/classes.sh': hook,
      'modules/010-web/hooks/same.sh': BEFORE,
    });
    const { exitCode, stdout, left } = await replay('--timeout 1s');
    expect(stdout).toContain(expected);
    expect(stdout).toMatch(/2 recorded runs on today's hooks: 1 same, 0 differ, 1 (?:failed|impure)\n$/);
    expect({ exitCode, left }).toEqual({ exitCode: 1, left: [] });
  });

  test('names what is no recording, is cut off, of another version, or of a hook that is gone, and replays the rest', async () => {
    await write([recordingOf(0), recordingOf(1, { hook: 'gone.sh' }), recordingOf(2, { module: 'wbe' })]);
    await writeTree(directory, {
      'global-hooks/classes.sh': BEFORE,
      'modules/010-web/module.yaml': 'version: 1.0.0\n',
      'recordings/3.json': JSON.stringify(recordingOf(3)).slice(0, 300),
      'recordings/4.json': JSON.stringify({ ...recordingOf(4), version: 2 }),
      'recordings/5.json': '[]',
    });
    const { exitCode, stdout } = await replay();
    expect(stdout).toMatch(/unusable recordings\/3\.json: it is no complete JSON .*record it again\n/);
    expect(stdout).toContain(
      'unusable recordings/4.json: it is of version 2, and this addon-operator reads version 1: replay it with the addon-operator that recorded it\n',
    );
    expect(stdout).toContain('unusable recordings/5.json: it is no recording');
    expect(stdout).toMatch(
      /failed recordings\/0001\.json: gone\.sh for pods\n {2}.*gone\.sh is not a hook: there is no such file\n/,
    );
    expect(stdout).toContain('there is no module wbe in modules (did you mean "web"?): set --modules-dir');
    expect(stdout).toMatch(/3 recorded runs on today's hooks: 1 same, 0 differ, 2 failed, 3 unusable\n$/);
    expect(exitCode).toBe(2);
  });

  test('replays on another file with --hook, and says what else is different here', async () => {
    const watch = { kind: 'Pod', jqFilter: '.metadata' };
    await write([
      recordingOf(0, {
        config: { kubernetes: [{ name: 'pods', watch }] },
        env: ['PATH', 'REGION', 'PYENV_ROOT'],
      }),
    ]);
    await writeTree(directory, {
      'elsewhere/new.sh': CHANGED,
      'elsewhere/lib/region.sh': 'echo "$REGION"\n',
    });
    const { exitCode, stdout } = await replay('--hook elsewhere/new.sh -o json recordings/0000.json');
    expect(JSON.parse(stdout)).toMatchObject({
      counts: { same: 1, differs: 0, failed: 0, impure: 0, unusable: 0 },
      results: [{ file: 'recordings/0000.json', result: 'same' }],
      notes: [
        expect.stringMatching(/the binding pods \(.*jqFilter.*\) of classes\.sh was configured differently/),
        'variables that classes.sh had when it was recorded are not set here: REGION',
      ],
    });
    expect(exitCode).toBe(0);
  });

  test('refuses what it cannot replay at all', async () => {
    expect(await replay()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no recordings in '),
    });
    await write([recordingOf(0), recordingOf(1, { hook: 'other.sh' })]);
    await writeTree(directory, { 'new.sh': CHANGED });
    expect((await replay('--hook new.sh')).stderr).toContain(
      '--hook: none of the recordings is of new.sh; they are of classes.sh, other.sh: name files of one hook',
    );
    expect((await replay('--timeout soon')).stderr).toContain('--timeout must be a duration such as 30s');
  });

  test('ends with the hook when it is interrupted', async () => {
    const pidFile = join(directory, 'pid');
    await write([recordingOf(0)]);
    await writeTree(directory, {
      'global-hooks/classes.sh': shHook(
        CONFIG,
        `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600`,
      ),
    });
    const stop = new AbortController();
    const running = replay('', stop.signal);
    const pid = await vi.waitFor(async () => Number(await readFile(pidFile, 'utf8')), WAIT);
    stop.abort(new Error('stopped by a signal'));
    expect(await running).toMatchObject({ exitCode: 1, left: [] });
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
  });
});
