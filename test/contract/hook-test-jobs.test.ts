import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runHookTest } from '../support/hook-test-command.ts';
import { shHook, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };

/** Notes that it runs, waits until another hook does, and prints the Secrets that the API serves to it. */
const meets = (own: string, other: string): string =>
  shHook(
    'onStartup: 1',
    `touch "$PLACE/${own}"
while [ ! -e "$PLACE/${other}" ]; do sleep 0.01; done
node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/secrets").then((response) => response.json()).then(({ items }) => {
  console.log(...items.map(({ metadata }) => metadata.name + " " + metadata.creationTimestamp));
});'`,
  );

const meeting = (hook: string, day: number): string => `hook: global-hooks/${hook}.sh
now: 2026-05-0${day}T00:00:00Z
cluster: [{apiVersion: v1, kind: Secret, metadata: {name: of-${hook}, namespace: shop}}]
cases: [{name: ${hook} meets, steps: [{start: {}, expect: {output: "of-${hook} 2026-05-0${day}T00:00:00Z\\n"}}]}]
`;

/** Fails if another run of it has not ended yet. */
const ALONE = shHook('onStartup: 1', 'mkdir "$PLACE/alone" || exit 1\nsleep 0.05\nrmdir "$PLACE/alone"');
const ALONE_TEST =
  'hook: global-hooks/alone.sh\ncases: [{name: a, steps: [start]}, {name: b, steps: [start]}]\n';

const hangs = (name: string): string =>
  shHook(
    'onStartup: 1',
    `echo $$ > "$PLACE/${name}.new"; mv "$PLACE/${name}.new" "$PLACE/${name}.pid"; exec sleep 600`,
  );

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-test-jobs-'));
});
afterEach(() => rm(directory, { recursive: true }));

const hookTest = (line: string, stop?: AbortSignal) =>
  runHookTest(directory, line, { env: { PLACE: directory }, ...(stop !== undefined && { stop }) });

describe('hook test', () => {
  test('runs two hooks at the same time, each on its own API and clock, and reports in the order of the files', async () => {
    await writeTree(directory, {
      'global-hooks/first.sh': meets('first', 'second'),
      'global-hooks/second.sh': meets('second', 'first'),
      'tests/a.hook-test.yaml': meeting('first', 1),
      'tests/b.hook-test.yaml': meeting('second', 2),
      'tests/c.hook-test.yaml': 'hok: a\n',
    });
    const { exitCode, stdout } = await hookTest('tests --jobs 2 --report tap=report.tap');
    expect(stdout).toMatch(
      /^tests\/a\.hook-test\.yaml\n {2}ok first meets\n.*\ntests\/b\.hook-test\.yaml\n {2}ok second meets\n.*\ntests\/c\.hook-test\.yaml\n[^]*\n2 passed, 1 failed, 0 skipped\n$/,
    );
    expect(exitCode).toBe(2);
    const tap = await readFile(join(directory, 'report.tap'), 'utf8');
    expect(tap.match(/^(?:not )?ok .*/gm)).toEqual([
      'ok 1 - tests/a.hook-test.yaml: first meets',
      'ok 2 - tests/b.hook-test.yaml: second meets',
      'not ok 3 - tests/c.hook-test.yaml: tests/c.hook-test.yaml',
    ]);
  });

  test('runs the cases of one hook one after another, also of several files', async () => {
    await writeTree(directory, {
      'global-hooks/alone.sh': ALONE,
      'tests/a.hook-test.yaml': ALONE_TEST,
      'tests/b.hook-test.yaml': ALONE_TEST,
    });
    const { stdout } = await hookTest('tests --jobs 4');
    expect(stdout).toMatch(/\n4 passed, 0 failed, 0 skipped\n$/);
  });

  test('ends all hooks when it is interrupted, and leaves no temporary file', async () => {
    await writeTree(directory, {
      'global-hooks/one.sh': hangs('one'),
      'global-hooks/two.sh': hangs('two'),
      'tests/one.hook-test.yaml': 'hook: global-hooks/one.sh\ncases: [{name: a, steps: [start]}]\n',
      'tests/two.hook-test.yaml': 'hook: global-hooks/two.sh\ncases: [{name: a, steps: [start]}]\n',
    });
    const stop = new AbortController();
    const running = hookTest('tests --jobs 2', stop.signal);
    const pids = await vi.waitFor(
      () =>
        Promise.all(
          ['one', 'two'].map(async (name) => Number(await readFile(join(directory, `${name}.pid`), 'utf8'))),
        ),
      WAIT,
    );
    stop.abort(new Error('stopped by a signal'));
    expect(await running).toMatchObject({ exitCode: 1 });
    for (const pid of pids) await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
    const names = await readdir(directory);
    expect(names.filter((name) => name.startsWith('addon-operator-'))).toEqual([]);
  });

  test('refuses a number of jobs that is none', async () => {
    const { exitCode, stderr } = await hookTest('tests --jobs 0');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('--jobs must be a number from 1 to 99, not "0"'),
    ]);
  });
});
