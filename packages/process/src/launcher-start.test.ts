import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { Launcher, startLauncher } from './launcher.ts';

const MODULES = ['./launcher.ts', '@addon-operator/base/clock', '@addon-operator/base/log'].map((module) =>
  JSON.stringify(import.meta.resolve(module)),
);

/**
 * Reads how many descriptors to leave free, or `all`; then runs `/bin/true` through a launcher, and prints the
 * launcher's pid and the outcome.
 */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { startLauncher } from ${MODULES[0]};
import { systemClock } from ${MODULES[1]};
import { silentLogger } from ${MODULES[2]};
const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
const spec = { file: '/bin/true', args: [], cwd: '/', env: {}, graceMs: 1 };
const open = [];
function leaveFree(count) {
  try {
    for (;;) open.push(openSync('/dev/null'));
  } catch {
    for (const fd of open.splice(0, count)) closeSync(fd);
  }
}
console.log(launcher.pid + ' started');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'all') for (const fd of open.splice(0)) closeSync(fd);
  else leaveFree(Number(line));
  const outcome = await launcher.run(spec, new AbortController().signal).then(
    ({ outcome }) => outcome.type,
    ({ code, message }) => code + ' ' + message,
  );
  console.log((launcher.pid ?? 0) + ' ' + outcome);
}`;

/** Both limits: Node raises the soft one to the hard one when it starts. */
const DESCRIPTORS = 128;

async function startProgram() {
  const script = `ulimit -n ${DESCRIPTORS}; exec "$0" --input-type=module -e "$1"`;
  const child = spawn('/bin/sh', ['-c', script, process.execPath, PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const response = async (): Promise<{ readonly launcher: number; readonly outcome: string }> => {
    const { value = '' } = await lines.next();
    const [, launcher, outcome = ''] = /^(\d+) (.*)$/s.exec(value) ?? [];
    return { launcher: Number(launcher), outcome };
  };
  return {
    started: await response(),
    run: (free: number | 'all') => {
      child.stdin.write(`${free}\n`);
      return response();
    },
  };
}

// FAULT-D12
test.skipIf(process.platform !== 'linux')(
  'run() fails with PROCESS_SPAWN and later succeeds, when the launcher dies while few descriptors are free',
  async () => {
    const program = await startProgram();
    let { launcher } = program.started;
    const outcomes = new Set<string>();
    for (let free = 0; free < 12; free += 1) {
      process.kill(launcher, 'SIGKILL');
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const { outcome } = await program.run(free);
        expect(outcome).toMatch(/^(exited$|PROCESS_SPAWN )/);
        outcomes.add(outcome.replace(/ .*/s, ''));
      }
      // A run right after a death may still fail because of it.
      let last = await program.run('all');
      if (last.outcome !== 'exited') last = await program.run('all');
      expect(last.outcome).toBe('exited');
      ({ launcher } = last);
    }
    expect([...outcomes].toSorted()).toEqual(['PROCESS_SPAWN', 'exited']);
  },
  120_000,
);

test('startLauncher() fails with PROCESS_SPAWN, when the program misses its start-up deadline', async () => {
  const clock = new FakeClock();
  const starting = startLauncher({
    log: silentLogger,
    clock,
    onSpawned: () => void clock.advance(30_000),
  });
  await expect(starting).rejects.toMatchObject({
    code: 'PROCESS_SPAWN',
    message: expect.stringContaining('it did not accept requests within 30 s'),
  });
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('run() rejects at once, when it is aborted while the launcher starts', async () => {
  const launcher = new Launcher({ log: silentLogger, clock: new FakeClock() });
  onTestFinished(() => launcher.stop());
  const abort = new AbortController();
  const spec = { file: '/bin/true', args: [], cwd: '/', env: {}, graceMs: 1 };
  const run = launcher.run(spec, abort.signal);
  const reason = new Error('shutting down');
  abort.abort(reason);
  await expect(run).rejects.toBe(reason);
  expect(launcher.pid).toBeUndefined();
});

test('stop() abandons a launcher that is starting', async () => {
  const spawned = Promise.withResolvers<void>();
  const launcher = new Launcher({
    log: silentLogger,
    clock: new FakeClock(),
    onSpawned: () => spawned.resolve(),
  });
  const starting = launcher.start();
  const failure = starting.catch((error: unknown) => error);
  await spawned.promise;
  await launcher.stop();
  expect(await failure).toMatchObject({ code: 'ABORTED' });
  expect(launcher.pid).toBeUndefined();
});

test('what the program prints when it fails is logged, with places in its sources', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'launcher-start-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'built.mjs');
  writeFileSync(file, "console.error('at chunk.js:1'); process.exit(3);");
  const sourcePlaces = (line: string): string => line.replace('chunk.js:1', 'source.ts:7');
  const clock = new FakeClock();
  const { logger: log, records } = new CapturedLog(clock);
  await expect(startLauncher({ log, clock, program: { file, sourcePlaces } })).rejects.toMatchObject({
    code: 'PROCESS_SPAWN',
    message: `Cannot start the launcher that runs hooks and helm (${file}): it ended (exit code 3)`,
  });
  expect(records).toMatchObject([{ msg: 'launcher printed an error', line: 'at source.ts:7' }]);
});

test.for([
  ['NODE_OPTIONS', '--import=/nowhere.mjs'],
  ['UV_THREADPOOL_SIZE', 'many'],
] as const)('the launcher starts and runs processes whatever %s of the daemon is', async ([name, value]) => {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
  onTestFinished(() => launcher.stop());
  const lines: string[] = [];
  const { outcome } = await launcher.run(
    {
      file: '/bin/sh',
      args: ['-c', `echo "$${name}"`],
      cwd: '/',
      env: { [name]: 'of the hook' },
      graceMs: 1,
      onLine: (_stream, line) => void lines.push(line),
    },
    new AbortController().signal,
  );
  expect([outcome, lines]).toEqual([{ type: 'exited', exitCode: 0 }, ['of the hook']]);
});

test('run() reports the pid of a process that still runs after its start, and of no other', async () => {
  const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
  onTestFinished(() => launcher.stop());
  const pids: number[] = [];
  const spec = {
    file: '/bin/sh',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    graceMs: 100,
    onStart: (pid: number) => pids.push(pid),
  };
  const end = new AbortController();
  let printed = '';
  const running = launcher.run(
    { ...spec, args: ['-c', 'echo $$; exec sleep 60'], onLine: (_stream, line) => (printed = line) },
    end.signal,
  );
  await vi.waitFor(() => expect(pids.map(String)).toEqual([printed]), { timeout: 20_000 });
  end.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
});
