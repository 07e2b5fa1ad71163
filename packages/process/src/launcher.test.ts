import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { type Launcher, startLauncher } from './launcher.ts';
import { processState } from './process-alive.ts';
import type { ProcessSpec } from './process-runner.ts';

let directory = '';
let launcher: Launcher;
const clock = new FakeClock();
const never = new AbortController().signal;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'launcher-'));
  launcher = await startLauncher({ log: silentLogger, clock });
});

afterAll(async () => {
  await launcher.stop();
  rmSync(directory, { recursive: true });
});

function write(name: string, content: string, mode = 0o755): string {
  const file = path.join(directory, name);
  writeFileSync(file, content, { mode });
  return file;
}

function shell(script: string, more: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    file: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    env: { PATH: '/usr/bin:/bin' },
    graceMs: 10_000,
    ...more,
  };
}

function fifo(name: string): string {
  const file = path.join(directory, name);
  execFileSync('mkfifo', [file]);
  return file;
}

/** Resolves when every process that held the FIFO open for writing is gone, with what they wrote. */
function untilReleased(fifoPath: string): Promise<string> {
  return readFile(fifoPath, 'utf8');
}

test('run() hands over lines, captured output, exit code and usage', async () => {
  const lines: string[] = [];
  const result = await launcher.run(
    shell('echo one; printf "two\\r\\nthree" ; echo problem >&2; exit 3', {
      captureStdoutBytes: 5,
      onLine: (stream, line) => lines.push(`${stream}: ${line}`),
    }),
    never,
  );
  expect(result).toMatchObject({
    outcome: { type: 'exited', exitCode: 3 },
    stdout: 'one\nt',
    isStdoutTruncated: true,
    stderr: 'problem\n',
  });
  expect(lines.filter((line) => line.startsWith('stdout'))).toEqual([
    'stdout: one',
    'stdout: two',
    'stdout: three',
  ]);
  expect(lines).toContain('stderr: problem');
});

test.skipIf(process.platform !== 'linux')('run() reports CPU time and memory of the process', async () => {
  const script = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done';
  const { usage } = await launcher.run(shell(script), never);
  expect((usage?.userCpuMs ?? 0) + (usage?.systemCpuMs ?? 0)).toBeGreaterThan(1);
  expect(usage?.maxRssBytes).toBeGreaterThan(500_000);
});

test('run() gives the process its arguments, directory and environment, and nothing else but the marker of its run', async () => {
  const script = 'pwd; for a in "$@"; do echo "[$a]"; done; env | sort; cat';
  const result = await launcher.run(
    shell('', {
      args: ['-c', script, 'sh', 'a b', '', 'ü"\n'],
      env: { PATH: '/usr/bin:/bin', NAME: 'värde = x' },
      captureStdoutBytes: 1000,
    }),
    never,
  );
  const output = result.stdout.split('\n');
  expect(output.slice(0, 5)).toEqual([directory, '[a b]', '[]', '[ü"', ']']);
  const names = output.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split('=')[0]);
  expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? ''))).toEqual([
    'ADDON_OPERATOR_RUN',
    'NAME',
    'PATH',
  ]);
  expect(result.stdout).toContain('NAME=värde = x');
});

test('run() passes arguments literally, also those that mean something to a shell', async () => {
  const args = [
    'a;id',
    '$(id)',
    '`id`',
    '--post-renderer=x',
    '*',
    'two words',
    "'",
    '"',
    '\\',
    'line\nend',
    '',
  ];
  const file = write('arguments', '#!/bin/sh\nfor one; do printf "%s|" "$one"; done\n');
  const result = await launcher.run({ ...shell(''), file, args, captureStdoutBytes: 1_000 }, never);
  expect(result.stdout).toBe(args.map((one) => `${one}|`).join(''));
});

test.skipIf(process.platform !== 'linux')('run() leaks no pipe of one process into another', async () => {
  const [pipes, hold] = [fifo('pipes'), fifo('pipes-hold')];
  const script = `echo $(readlink /proc/$$/fd/1) $(readlink /proc/$$/fd/2) > ${pipes}; read x < ${hold}`;
  const first = launcher.run(shell(script), never);
  const [stdoutPipe, stderrPipe] = (await readFile(pipes, 'utf8')).trim().split(' ');
  const second = await launcher.run(shell('ls -l /proc/self/fd', { captureStdoutBytes: 10_000 }), never);
  await writeFile(hold, 'end\n');
  await first;
  expect(stdoutPipe).toMatch(/^pipe:/);
  expect(second.stdout).not.toContain(stdoutPipe);
  expect(second.stdout).not.toContain(stderrPipe);
});

test('run() finds a bare name in the PATH of the process', async () => {
  write('my-tool', '#!/bin/sh\necho found\n');
  const spec = shell('', { file: 'my-tool', args: [], env: { PATH: directory }, captureStdoutBytes: 100 });
  expect((await launcher.run(spec, never)).stdout).toBe('found\n');
  await expect(launcher.run({ ...spec, file: 'no-tool' }, never)).rejects.toMatchObject({
    code: 'PROCESS_SPAWN',
    message: `Cannot run no-tool: there is no executable "no-tool" in PATH (${directory})`,
  });
});

test('run() starts processes with default signal handling', async () => {
  // A shell that was started with SIGPIPE ignored cannot be ended by it.
  const result = await launcher.run(
    shell('kill -PIPE $$; echo survived', { captureStdoutBytes: 100 }),
    never,
  );
  expect(result).toMatchObject({ outcome: { type: 'signalled', signal: 'SIGPIPE' }, stdout: '' });
});

test('run() keeps the last 64 KiB of stderr, and then its first 8 KiB', async () => {
  const script = 'i=0; while [ $i -lt 3000 ]; do echo "line $i of a lot of output" >&2; i=$((i+1)); done';
  const { stderr, stderrStart } = await launcher.run(shell(script), never);
  expect(stderrStart).toMatch(/^line 0 of a lot of output\n/);
  expect(stderrStart).toHaveLength(8_192);
  expect(await launcher.run(shell('echo problem >&2'), never)).not.toHaveProperty('stderrStart');
  expect(stderr.length).toBeGreaterThan(65_500);
  expect(stderr.length).toBeLessThanOrEqual(65_536);
  expect(stderr).toMatch(/^line \d+ of a lot of output\n/);
  expect(stderr.endsWith('line 2999 of a lot of output\n')).toBe(true);
});

test('run() drops lines beyond the limit of both streams together, and counts their bytes', async () => {
  const lines: string[] = [];
  const reported = Promise.withResolvers<void>();
  const onLine = (_stream: unknown, line: string): void => {
    lines.push(line);
    reported.resolve();
  };
  const go = fifo('drops-go');
  // Both lines in one write: a reader that reported the first one has read the second.
  const script = `printf '12345\\n1234567890\\n'; read x < ${go}; echo late >&2`;
  const running = launcher.run(shell(script, { onLine, maxLineBytes: 9 }), never);
  await reported.promise;
  await writeFile(go, 'go\n');
  const result = await running;
  expect(lines).toEqual(['12345', '123…']);
  expect(result).toMatchObject({ droppedBytes: 13, stderr: 'late\n' });
  const whole = await launcher.run(shell('echo 1234', { onLine, maxLineBytes: 5 }), never);
  expect(whole).not.toHaveProperty('droppedBytes');
});

test('run() runs processes side by side', async () => {
  const [there, back] = [fifo('there'), fifo('back')];
  const results = await Promise.all([
    launcher.run(
      shell(`echo ping > ${there}; read answer < ${back}; echo $answer`, { captureStdoutBytes: 9 }),
      never,
    ),
    launcher.run(shell(`read word < ${there}; echo $word-pong > ${back}`), never),
  ]);
  expect(results[0].stdout).toBe('ping-pong');
});

test.each<[string, string, string | undefined, RegExp]>([
  ['a missing file', 'missing.sh', undefined, /no such file/],
  ['an empty file', 'empty.sh', '', /it is empty/],
  [
    'a file without interpreter line',
    'plain.sh',
    'echo hello\n',
    /neither a script with an interpreter line/,
  ],
  [
    'a missing interpreter',
    'lost.sh',
    '#!/no/such/shell\n',
    /its interpreter \/no\/such\/shell does not exist/,
  ],
  [
    'lines that end in CR LF',
    'dos.sh',
    '#!/bin/sh\r\nexit 0\r\n',
    /interpreter "\/bin\/sh\\r".*convert them to LF/,
  ],
])('run() refuses %s and says why', async (_what, name, content, reason) => {
  const file = content === undefined ? path.join(directory, name) : write(name, content);
  await expect(launcher.run(shell('', { file, args: [] }), never)).rejects.toMatchObject({
    code: 'PROCESS_SPAWN',
    message: expect.stringMatching(reason),
  });
});

test('run() refuses what the system refuses, in words', async () => {
  const loop = path.join(directory, 'loop');
  symlinkSync(loop, loop);
  const refused: [Partial<ProcessSpec>, RegExp][] = [
    [{ file: loop }, /symbolic links/],
    [{ file: write('no-exec.sh', '#!/bin/sh\n', 0o644) }, /chmod \+x/],
    [{ cwd: path.join(directory, 'missing') }, /the working directory .*missing cannot be entered/],
    [{ env: { BIG: 'x'.repeat(200_000) } }, /larger than the kernel allows/],
    [{ env: { BAD: 'a\0b' } }, /environment variable BAD contains a NUL byte/],
    [{ args: ['ok', 'a\0b'] }, /argument 2 contains a NUL byte/],
  ];
  for (const [more, reason] of refused) {
    await expect(launcher.run(shell('exit 0', more), never)).rejects.toMatchObject({
      code: 'PROCESS_SPAWN',
      message: expect.stringMatching(reason),
    });
  }
});

test.skipIf(process.platform !== 'linux')(
  'run() tries a file that is being written four times, 100 ms apart',
  async () => {
    const file = path.join(directory, 'busy');
    writeFileSync(file, readFileSync('/bin/true'), { mode: 0o755 });
    const fd = openSync(file, 'r+');
    const first = launcher.run(shell('', { file, args: [] }), never);
    await clock.untilAsleep();
    expect(clock.pendingDelaysMs).toEqual([100]);
    closeSync(fd);
    await clock.advance(100);
    expect((await first).outcome).toEqual({ type: 'exited', exitCode: 0 });

    const writer = openSync(file, 'r+');
    const second = launcher.run(shell('', { file, args: [] }), never);
    const failure = second.catch((error: unknown) => error);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await clock.untilAsleep();
      await clock.advance(100);
    }
    expect(await failure).toMatchObject({ message: expect.stringContaining('still being written') });
    closeSync(writer);
  },
);

test('run() gives a hanging group TERM at the time limit and KILL after the grace', async () => {
  const [alive, ready] = [fifo('alive'), fifo('ready')];
  // Both the shell and its child ignore TERM; the FIFO stays open for as long as one of them lives.
  const script = `trap "" TERM; exec 3> ${alive}; (echo child > ${ready}; read x < ${fifo('never')}) & wait; wait`;
  const run = launcher.run(shell(script, { timeoutMs: 5_000, graceMs: 2_000 }), never);
  const released = untilReleased(alive);
  expect(await readFile(ready, 'utf8')).toBe('child\n');
  await clock.untilAsleep();
  await clock.advance(5_000);
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([2_000]);
  await clock.advance(2_000);
  expect((await run).outcome).toEqual({ type: 'timed-out', timeoutMs: 5_000 });
  await released;
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('run() lets a process end by itself on TERM', async () => {
  const ready = fifo('term-ready');
  const script = `trap "echo cleaning; exit 0" TERM; echo > ${ready}; while :; do read x < ${fifo('term-never')}; done`;
  const run = launcher.run(shell(script, { timeoutMs: 100, captureStdoutBytes: 100 }), never);
  await readFile(ready);
  await clock.untilAsleep();
  await clock.advance(100);
  expect(await run).toMatchObject({ outcome: { type: 'timed-out' }, stdout: 'cleaning\n' });
});

test('run() ends a process that stopped itself', async () => {
  const ready = fifo('stop-ready');
  const script = `echo $$ > ${ready}; kill -STOP $$`;
  const run = launcher.run(shell(script, { timeoutMs: 100, graceMs: 50 }), never);
  const pid = (await readFile(ready, 'utf8')).trim();
  // Before it has stopped itself, TERM would end it.
  await vi.waitFor(
    () => expect(execFileSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' })).toMatch(/^T/),
    {
      timeout: 20_000,
    },
  );
  await clock.untilAsleep();
  await clock.advance(100);
  await clock.untilAsleep();
  await clock.advance(50);
  expect((await run).outcome).toEqual({ type: 'timed-out', timeoutMs: 100 });
});

test('run() rejects with the reason of the signal once the process is gone', async () => {
  const [ready, alive] = [fifo('abort-ready'), fifo('abort-alive')];
  const abort = new AbortController();
  const run = launcher.run(
    shell(`exec 3> ${alive}; echo > ${ready}; read x < ${fifo('abort-never')}`),
    abort.signal,
  );
  const released = untilReleased(alive);
  await readFile(ready);
  const reason = new Error('shutting down');
  abort.abort(reason);
  await expect(run).rejects.toBe(reason);
  await released;
  await expect(launcher.run(shell('exit 0'), abort.signal)).rejects.toBe(reason);
});

test.each([
  ['in the group', 'sh -c'],
  ['that left the group', 'setsid sh -c'],
])('run() waits one second for pipes held by a process %s', async (_where, prefix) => {
  const name = prefix.replaceAll(' ', '-');
  const ready = fifo(`held-ready-${name}`);
  const hold = fifo(`hold-${name}`);
  const script = `${prefix} 'echo > ${ready}; read x < ${hold}' & echo done; read x < ${ready}; exit 4`;
  const run = launcher.run(shell(script, { captureStdoutBytes: 100 }), never);
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toEqual([1_000]);
  await clock.advance(1_000);
  expect(await run).toMatchObject({ outcome: { type: 'exited', exitCode: 4 }, stdout: 'done\n' });
});

test('run() kills what is left of the group at the end', async () => {
  const alive = fifo('left-alive');
  const script = `(exec 3> ${alive}; exec > /dev/null 2>&1; echo > ${fifo('left-ready')}; read x < ${fifo('left-never')}) & read x < ${directory}/left-ready; exit 0`;
  const run = launcher.run(shell(script), never);
  const released = untilReleased(alive);
  expect((await run).outcome).toEqual({ type: 'exited', exitCode: 0 });
  await released;
});

test('run() fails when the launcher dies, its groups die too, and the next run starts it again', async () => {
  const [ready, alive] = [fifo('lost-ready'), fifo('lost-alive')];
  const run = launcher.run(shell(`exec 3> ${alive}; echo > ${ready}; read x < ${fifo('lost-never')}`), never);
  const released = untilReleased(alive);
  await readFile(ready);
  const { pid } = launcher;
  expect(pid).toBeTypeOf('number');
  process.kill(pid ?? 0, 'SIGKILL');
  await expect(run).rejects.toMatchObject({
    code: 'PROCESS_SPAWN',
    message: expect.stringContaining('SIGKILL'),
  });
  await released;
  expect((await launcher.run(shell('exit 7'), never)).outcome).toEqual({ type: 'exited', exitCode: 7 });
  expect(launcher.pid).not.toBe(pid);
});

test('run() ends although the launcher is stopped by SIGSTOP: it is continued', async () => {
  const responseClock = new FakeClock();
  const log = new CapturedLog(clock);
  const other = await startLauncher({ log: log.logger, clock, responseClock });
  onTestFinished(() => other.stop());
  const [ready, go] = [fifo('stopped-ready'), fifo('stopped-go')];
  const run = other.run(shell(`echo > ${ready}; read x < ${go}; exit 4`), never);
  await readFile(ready);
  const pid = other.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  await vi.waitFor(() => expect(processState(pid)).toBe('T'), { timeout: 20_000 });
  await writeFile(go, 'x\n');
  // The response to a question before the stop may still be read.
  const warnings = () => log.records.filter(({ level }) => level === 'warn');
  while (warnings().length === 0) await responseClock.advance(10_000);
  expect((await run).outcome).toEqual({ type: 'exited', exitCode: 4 });
  expect(warnings()).toMatchObject([
    { msg: 'launcher was stopped by a signal; it is continued', state: 'T' },
  ]);
});

test('stop() kills running groups and refuses further runs', async () => {
  const other = await startLauncher({ log: silentLogger, clock });
  const [ready, alive] = [fifo('end-ready'), fifo('end-alive')];
  const run = other.run(shell(`exec 3> ${alive}; echo > ${ready}; read x < ${fifo('end-never')}`), never);
  const released = untilReleased(alive);
  await readFile(ready);
  const failure = run.catch((error: unknown) => error);
  await other.stop();
  expect(await failure).toMatchObject({ code: 'ABORTED' });
  await released;
  await expect(other.run(shell('exit 0'), never)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(other.pid).toBeUndefined();
});

test.each([
  ['and all processes', ''],
  ['and children that left their group', 'setsid '],
])('a daemon killed by SIGKILL takes its launcher %s with it', async (_what, prefix) => {
  const [ready, alive] = [fifo(`kill-ready-${prefix}`), fifo(`kill-alive-${prefix}`)];
  const source = `
    import { startLauncher } from ${JSON.stringify(path.join(import.meta.dirname, 'launcher.ts'))};
    import { systemClock } from ${JSON.stringify(import.meta.resolve('@addon-operator/base/clock'))};
    import { silentLogger } from ${JSON.stringify(import.meta.resolve('@addon-operator/base/log'))};
    const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
    await launcher.run({ file: '/bin/sh', args: ['-c', process.argv[2]], cwd: '/', env: {}, graceMs: 1 },
      new AbortController().signal);`;
  const daemonFile = write('daemon.mjs', source);
  const never = fifo(`kill-never-${prefix}`);
  const first = `exec 3> "${alive}"; echo > "${ready}"; read x < "${never}"`;
  const script = prefix === '' ? first : `${prefix}sh -c '${first}' & wait`;
  const daemon = spawn(process.execPath, [daemonFile, script], { stdio: 'ignore' });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  const released = untilReleased(alive);
  await readFile(ready);
  daemon.kill('SIGKILL');
  expect(await released).toBe('');
});
