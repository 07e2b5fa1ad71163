import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runHookTest } from '../support/hook-test-command.ts';
import { type FileTree, shHook, THROWING_HOOK, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };
/** Nothing listens on this port of the loopback interface. */
const NO_SERVER = 'http://127.0.0.1:9/';

/** What each hook does unless `FINE` is set, as in the second case of its test. */
const BODIES = {
  hangs: 'exec sleep 600',
  'garbage-patch': 'head -c 100000 /dev/zero > "$KUBERNETES_PATCH_PATH"',
  'garbage-values': `echo '[{"op": ' > "$VALUES_JSON_PATCH_PATH"`,
  'garbage-metrics': `printf '\\377\\376' > "$METRICS_PATH"`,
  'huge-lines': 'yes "0123456789012345678901234567890123456789012345678901234567890123" | head -c 1000000000',
  'short-lines': 'exec yes',
  'huge-line': 'head -c 1000000000 /dev/zero',
  'huge-output': 'head -c 20000000 /dev/zero > "$KUBERNETES_PATCH_PATH"',
  forks: `setsid sh -c 'echo $$ > "$PID_FILE.new"; mv "$PID_FILE.new" "$PID_FILE"; exec sleep 600' &
while [ ! -e "$PID_FILE" ]; do sleep 0.01; done`,
  'changes-itself': `echo '# again' >> "$0"`,
  'removes-itself': 'rm "$0"',
  'needs-network': `node -e 'fetch("${NO_SERVER}").catch((error) => { console.error("no route:", error.message); process.exit(1); })'`,
  'kills-itself': 'kill -9 $$',
} as const;
type Name = keyof typeof BODIES;

/** Why the first case of each test fails. */
const REASONS: Readonly<Record<Name, RegExp>> = {
  hangs: /the case took longer than 2s \(timeout\)/,
  'garbage-patch': /kubernetes patch/,
  'garbage-values': /values/,
  'garbage-metrics': /metrics/,
  'huge-lines': /it printed more than 10 MiB/,
  'short-lines': /it printed more than 500000 lines/,
  'huge-line': /the hook printed more than 16777216 bytes/,
  'huge-output': /it has 20000000 bytes, more than the limit/,
  forks: /the hook left a process outside of its process group, which was ended: sleep \(pid \d+\)/,
  'changes-itself': /the file of the hook was changed while it ran/,
  'removes-itself': /the file of the hook was changed while it ran/,
  'needs-network': /no route: fetch failed/,
  'kills-itself': /killed by SIGKILL, perhaps out of memory/,
};

function filesOf(name: Name): FileTree {
  return {
    [`global-hooks/${name}.sh`]: shHook('onStartup: 1', `if [ -n "$FINE" ]; then exit; fi\n${BODIES[name]}`),
    [`${name}/a.hook-test.yaml`]: `hook: ../global-hooks/${name}.sh
cases:
- {name: is hostile, timeout: ${name === 'hangs' ? '2s' : '1m'}, steps: [start]}
- {name: is fine, env: {FINE: "1"}, steps: [start]}
`,
  };
}

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-test-hostile-'));
  for (const name of Object.keys(BODIES) as Name[]) await writeTree(directory, filesOf(name));
  await writeTree(directory, {
    'global-hooks/throws.ts': THROWING_HOOK,
    'throws/a.hook-test.yaml': 'hook: ../global-hooks/throws.ts\ncases:\n- {name: throws, steps: [start]}\n',
  });
});
afterAll(() => rm(directory, { recursive: true }));

test.each(Object.entries(REASONS).filter(([name]) => name !== 'removes-itself'))(
  'the case of a hook that %s fails with the reason, and the next one runs',
  async (name, reason) => {
    const env = { PID_FILE: join(directory, 'pid') };
    const { exitCode, stdout } = await runHookTest(directory, name, { env });
    const [failed = '', fine = ''] = stdout.split('  ok is fine');
    expect(failed).toContain('FAILED is hostile');
    expect(failed).toMatch(reason);
    expect(failed).toContain(
      `repeat: addon-operator hook test ${name}/a.hook-test.yaml --filter 'is hostile'`,
    );
    expect([exitCode, fine]).toEqual([1, '\n1 passed, 1 failed, 0 skipped\n']);
  },
);

test('the case of a hook that removes itself fails with the reason, and so does the next one', async () => {
  const { exitCode, stdout } = await runHookTest(directory, 'removes-itself');
  expect(stdout).toMatch(REASONS['removes-itself']);
  expect(stdout).toMatch(/FAILED is fine\n[^]*there is no such file/);
  expect(exitCode).toBe(1);
});

test('a TypeScript hook that throws fails with the line of its author', async () => {
  const { stdout } = await runHookTest(directory, 'throws');
  expect(stdout).toMatch(/failed: Error: no issuer internal \(at .*global-hooks\/throws\.ts:5:9\)/);
});

test('processes that a hook leaves have ended with its case, and no temporary file is left', async () => {
  const pid = Number(await readFile(join(directory, 'pid'), 'utf8'));
  await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
  const names = await readdir(directory);
  expect(names.filter((name) => name.startsWith('addon-operator-'))).toEqual([]);
});
