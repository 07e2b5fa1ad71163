import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Recording } from '../../src/recordings/hook-recordings.ts';
import { runHookTest } from '../support/hook-test-command.ts';
import { type FileTree, shHook, writeTree } from '../support/world-files.ts';

const CONFIG = 'kubernetes:\n- {name: pods, apiVersion: v1, kind: Pod, jqFilter: .metadata.name}';
/** Writes a value that depends on the variables and programs that tests give it. */
const VALUES = shHook(
  CONFIG,
  `echo '{"name": "pods", "set": 1, "labels": {"region": "'$REGION$(zone)'"}}' > "$METRICS_PATH"`,
);
const READS = shHook(
  CONFIG,
  `node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/pods").then(() => fetch(server + "/api/v1/pods")).then(() => process.exit(0));'`,
);

function recordingOf(region: string, changes: Partial<Recording> = {}): string {
  const recording: Recording = {
    version: 1,
    at: '2026-05-01T10:00:00.000Z',
    operator: '0.1.0',
    hook: 'values.sh',
    module: '',
    binding: 'pods',
    config: {},
    contexts: [{ binding: 'pods', type: 'Event', watchEvent: 'Added', object: {}, filterResult: 'a' }],
    values: { global: {} },
    configValues: { global: {} },
    env: [],
    secrets: 'masked',
    durationMs: 4,
    outputs: {
      configValuesPatch: '',
      valuesPatch: '',
      metrics: `{"name": "pods", "set": 1, "labels": {"region": "${region}"}}`,
      kubernetesPatch: '',
      admissionResponse: '',
      conversionResponse: '',
    },
    ...changes,
  };
  return JSON.stringify(recording);
}

const FILES: FileTree = {
  'global-hooks/values.sh': VALUES,
  'global-hooks/reads.sh': READS,
  'recordings/1.json': recordingOf('eu-1'),
  'recordings/2.json': recordingOf('eu-1'),
};

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-test-replay-'));
  await writeTree(directory, FILES);
});
afterEach(() => rm(directory, { recursive: true }));

const replayOf = (hook: string, more = ''): string => `hook: global-hooks/${hook}
env: {REGION: eu}
stub: {zone: echo -1}
cases:
- {name: as on production, replay: ../recordings${more}}
`;

async function hookTest(test: string, line = 'tests') {
  await writeTree(directory, { 'tests/a.hook-test.yaml': test });
  return await runHookTest(directory, line);
}

describe('hook test with replay', () => {
  test('passes when the hook writes the same for all recorded runs, which count as coverage', async () => {
    const { exitCode, stdout } = await hookTest(replayOf('values.sh'), 'tests --coverage');
    expect([exitCode, stdout]).toEqual([
      0,
      `tests/a.hook-test.yaml
  ok as on production
1 passed, 0 failed, 0 skipped
values.sh was not run for: pods Synchronization, pods Modified, pods Deleted
coverage of bindings: 1 of 4 (25 %)
`,
    ]);
  });

  test('fails with the difference, with runs that failed, and with files that are no recordings', async () => {
    await writeTree(directory, { 'recordings/2.json': recordingOf('us-1'), 'recordings/3.json': '{' });
    const { exitCode, stdout } = await hookTest(replayOf('values.sh'));
    expect(stdout).toMatch(/FAILED as on production\n {4}unusable recordings\/3\.json: /);
    expect(stdout).toMatch(
      / {4}differs recordings\/2\.json: values\.sh for pods\n[^]*- +region: us-1\n +\+ +region: eu-1\n[^]*2 recorded runs on today's hooks: 1 same, 1 differs, 1 unusable\n {4}repeat: /,
    );
    expect(exitCode).toBe(1);
  });

  test('fails for a hook that is impure, and names its requests', async () => {
    const { exitCode, stdout } = await hookTest(replayOf('reads.sh', '/1.json'));
    expect(stdout).toContain('impure recordings/1.json: values.sh for pods\n');
    expect(stdout).toContain('impure, the hook itself requested: GET /api/v1/pods (2 times)\n');
    expect(exitCode).toBe(1);
  });

  test('ends a run that hangs with the case', async () => {
    await writeTree(directory, { 'global-hooks/values.sh': shHook(CONFIG, 'exec sleep 600') });
    const { stdout } = await hookTest(replayOf('values.sh', ', timeout: 1s'));
    expect(stdout).toContain('the case took longer than 1s (timeout)');
  });

  test.each([
    ['there are no recordings', replayOf('values.sh', '/none'), 1, /cannot read .*recordings\/none/],
    [
      'the recordings are of other hooks',
      replayOf('reads.sh'),
      1,
      /replay: none of the recordings is of reads\.sh; they are of other\.sh, values\.sh/,
    ],
    [
      'a case has what was recorded',
      replayOf('values.sh', ', values: {}'),
      2,
      /a\.hook-test\.yaml:5: cases\[0\]\.values: values has no effect in a case with replay/,
    ],
    [
      'a case has steps too',
      replayOf('values.sh', ', steps: [start]'),
      2,
      /cases\[0\]: must have exactly one of steps, replay/,
    ],
  ])('says why it cannot replay, when %s', async (_when, file, code, reason) => {
    await writeTree(directory, { 'recordings/2.json': recordingOf('eu-1', { hook: 'other.sh' }) });
    const { exitCode, stdout } = await hookTest(file);
    expect(stdout).toMatch(reason);
    expect(exitCode).toBe(code);
  });
});

test('the case of a hook that sends requests is impure in each report, whether it passes or not', async () => {
  const steps =
    'steps: [{start: {}, expect: {runs: 1}}, {apply: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}}]';
  const { stdout } = await hookTest(
    `hook: global-hooks/reads.sh\ncases:\n- {name: reads, ${steps}}\n`,
    'tests --report junit=a.xml --report tap=a.tap',
  );
  const note = 'impure, the hook itself requested: GET /api/v1/pods (4 times)';
  expect(stdout).toContain(`  ok reads\n    ${note}\n`);
  expect(await readFile(join(directory, 'a.xml'), 'utf8')).toContain(
    `>\n      <system-out>${note}</system-out>\n    </testcase>\n`,
  );
  expect(await readFile(join(directory, 'a.tap'), 'utf8')).toContain(`: reads\n# ${note}\n`);
});
