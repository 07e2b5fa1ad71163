import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Logger, silentLogger } from '@addon-operator/base/log';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { startLauncher } from './launcher.ts';
import type { EscapedProcesses, ProcessSpec } from './process-runner.ts';

let directory = '';
const never = new AbortController().signal;
const WAIT = { timeout: 20_000 };
/** Children that always replace their program: at least one of them is about to when its run ends, as good as always. */
const [RUNS, CHILDREN] = [20, 10];

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'escaped-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function shell(script: string, more: Partial<ProcessSpec> = {}): ProcessSpec {
  const env = { PATH: '/usr/bin:/bin' };
  return { file: '/bin/sh', args: ['-c', script], cwd: directory, env, graceMs: 10_000, ...more };
}

let fifos = 0;

function fifo(): string {
  fifos += 1;
  const file = path.join(directory, `fifo-${fifos}`);
  execFileSync('mkfifo', [file]);
  return file;
}

async function start(clock = new FakeClock(), log: Logger = silentLogger) {
  const launcher = await startLauncher({ log, clock });
  onTestFinished(() => launcher.stop());
  return { launcher, clock };
}

/** Programs that leave the group in different ways, and run for ever; `%s` is their first step. */
const ESCAPES = {
  setsid: (first: string) => `setsid sh -c '${first}; exec sleep 1000' > /dev/null 2>&1 &`,
  'double fork and setsid': (first: string) =>
    `(setsid sh -c '${first}; exec sleep 1000' > /dev/null 2>&1 &) &`,
  'setsid below setsid': (first: string) =>
    `setsid sh -c 'setsid sh -c "${first}; exec sleep 1000" & exec sleep 1000' > /dev/null 2>&1 &`,
  'setsid without environment': (first: string) =>
    `env -i /usr/bin/setsid /bin/sh -c '${first}; exec /bin/sleep 1000' > /dev/null 2>&1 &`,
};
type Escape = keyof typeof ESCAPES;

/** A script that starts such a child and waits until it is there; `released` resolves when the child is gone. */
function escaping(escape: Escape): { readonly script: string; readonly released: Promise<string> } {
  const [alive, ready] = [fifo(), fifo()];
  const script = `${ESCAPES[escape](`exec 3> ${alive}; echo > ${ready}`)} read x < ${ready};`;
  return { script, released: readFile(alive, 'utf8') };
}

/** As {@link escaping}, of a run that is waiting; `until` resolves when the child is there. */
function waiting(escape: Escape) {
  const [there, hold] = [fifo(), fifo()];
  const { script, released } = escaping(escape);
  return { script: `${script} echo > ${there}; read x < ${hold}`, hold, released, until: readFile(there) };
}

function childrenOf(pid = 0): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

describe.runIf(process.platform === 'linux')('a child that left the group', () => {
  // FAULT-E3 FAULT-E23
  test.each(Object.keys(ESCAPES) as Escape[])('ends with its run, when it left by %s', async (escape) => {
    const { launcher } = await start();
    const { script, released } = escaping(escape);
    const result = await launcher.run(shell(`${script} exit 3`), never);
    expect(result.outcome).toEqual({ type: 'exited', exitCode: 3 });
    await released;
    await vi.waitFor(() => expect(childrenOf(launcher.pid)).toEqual([]), WAIT);
  });

  test.each([
    ['setsid', 'exit 0', 1],
    ['setsid below setsid', 'exit 3', 2],
    ['double fork and setsid', 'exec sleep 1000', 1],
  ] as const)(
    'is reported once to its run, when it left by %s and the run ends by: %s',
    async (escape, end, count) => {
      const { launcher } = await start();
      const reports: EscapedProcesses[] = [];
      const { script, released } = escaping(escape);
      const abort = new AbortController();
      const inGroup = 'sleep 1000 > /dev/null 2>&1 & (sleep 1000 > /dev/null 2>&1 &);';
      const run = launcher.run(
        shell(`${inGroup}${script} echo there; ${end}`, {
          onEscaped: (escaped) => reports.push(escaped),
          onLine: () => end.includes('exec') && abort.abort('enough'),
        }),
        abort.signal,
      );
      await run.catch(() => undefined);
      await released;
      // A shell that has not become its last command yet is none the less reported.
      const command = expect.stringMatching(/^(?:sh|sleep)$/u);
      const processes = Array.from({ length: count }, () => ({ pid: expect.any(Number), command }));
      expect(reports).toEqual([{ count, processes }]);
    },
  );

  test('is reported to its run, when it is just replacing its program', async () => {
    const { launcher } = await start();
    const loop = path.join(directory, 'loop');
    await writeFile(loop, `#!/bin/sh\nexec ${loop}\n`, { mode: 0o755 });
    const counts: number[] = [];
    const onEscaped = ({ count }: EscapedProcesses): unknown => counts.push(count);
    const fifos = Array.from({ length: CHILDREN }, fifo);
    const script = [
      ...fifos.map((ready) => `setsid sh -c 'echo > ${ready}; exec ${loop}' > /dev/null 2>&1 &`),
      ...fifos.map((ready) => `read x < ${ready}`),
    ].join('\n');
    for (let run = 0; run < RUNS; run += 1) await launcher.run(shell(script, { onEscaped }), never);
    expect(counts).toEqual(Array.from({ length: RUNS }, () => CHILDREN));
  });

  test('is a warning with its program, when nothing says which run it belongs to', async () => {
    const log = new CapturedLog(new FakeClock());
    const { launcher } = await start(new FakeClock(), log.logger);
    const { script, released } = escaping('setsid without environment');
    await launcher.run(shell(script), never);
    await released;
    expect(log.records).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        count: 1,
        processes: [{ pid: expect.any(Number), command: expect.stringMatching(/^(?:sh|sleep)$/u) }],
      }),
    );
  });

  test('is not reported, when it is in the group of its run or has ended by itself', async () => {
    const log = new CapturedLog(new FakeClock());
    const { launcher } = await start(new FakeClock(), log.logger);
    const done = fifo();
    const inGroup = ['sleep 1000', 'env -i /bin/sleep 1000', '(sleep 1000 &)']
      .map((command) => `${command} > /dev/null 2>&1 &`)
      .join(' ');
    const isAlive = 'grep -q "^State:[[:space:]]*[^Z[:space:]]" /proc/$pid/status 2> /dev/null';
    const ended = `(setsid sh -c 'echo $$ > ${done}' > /dev/null 2>&1 &) ; read pid < ${done}; while ${isAlive}; do :; done`;
    for (let round = 0; round < 5; round += 1) await launcher.run(shell(`${inGroup} ${ended}`), never);
    expect(log.records.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('is gone before the run is said to have ended', async () => {
    const { launcher } = await start();
    const { script, released } = escaping('setsid below setsid');
    await launcher.run(shell(script), never);
    expect(childrenOf(launcher.pid)).toEqual([]);
    await released;
  });

  test('ends at the time limit', async () => {
    const { launcher, clock } = await start();
    const { script, released, until } = waiting('setsid');
    const run = launcher.run(shell(script, { timeoutMs: 5_000 }), never);
    await until;
    await clock.untilAsleep();
    await clock.advance(5_000);
    expect((await run).outcome).toEqual({ type: 'timed-out', timeoutMs: 5_000 });
    await released;
  });

  test('ends when the run is aborted', async () => {
    const { launcher } = await start();
    const { script, released, until } = waiting('double fork and setsid');
    const abort = new AbortController();
    const run = launcher.run(shell(script), abort.signal).catch((error: unknown) => error);
    await until;
    abort.abort('enough');
    expect(await run).toBe('enough');
    await released;
  });

  test.each<Escape>(['setsid', 'setsid below setsid', 'setsid without environment'])(
    'ends when the launcher is stopped, after %s',
    async (escape) => {
      const { launcher } = await start();
      const { script, released, until } = waiting(escape);
      const run = launcher.run(shell(script), never).catch((error: unknown) => error);
      await until;
      await launcher.stop();
      expect(await run).toMatchObject({ code: 'ABORTED' });
      await released;
    },
  );

  test.each<Escape>(['double fork and setsid', 'setsid below setsid'])(
    'ends when the launcher is killed, after %s',
    async (escape) => {
      const { launcher } = await start();
      const { script, released, until } = waiting(escape);
      const run = launcher.run(shell(script), never).catch((error: unknown) => error);
      await until;
      process.kill(launcher.pid ?? 0, 'SIGKILL');
      expect(await run).toMatchObject({ code: 'PROCESS_SPAWN' });
      await released;
      expect((await launcher.run(shell('exit 7'), never)).outcome).toMatchObject({ exitCode: 7 });
    },
  );

  test('ends when the deadline of all runs passes, though it holds the pipes', async () => {
    const { launcher } = await start();
    const [alive, ready] = [fifo(), fifo()];
    const script = `setsid sh -c 'exec 3> ${alive}; echo > ${ready}; exec sleep 1000' & read x < ${ready}; echo > ${ready}; sleep 1000`;
    const run = launcher.run(shell(script), never);
    const released = readFile(alive);
    await readFile(ready);
    launcher.setDeadline({ termAtMs: 0, killAtMs: 0 });
    // The clock of this process is stopped: nothing here asks for the end of the pipes.
    expect((await run).outcome).toMatchObject({ type: 'signalled' });
    await released;
  });

  test('lives as long as its own run, when others end', async () => {
    const { launcher } = await start();
    const first = waiting('double fork and setsid');
    const firstRun = launcher.run(shell(first.script), never);
    await first.until;
    let isReleased = false;
    void first.released.then(() => {
      isReleased = true;
    });
    const unmarked = escaping('setsid without environment');
    const others = [escaping('setsid'), escaping('double fork and setsid'), escaping('setsid below setsid')];
    await Promise.all(others.map(({ script }) => launcher.run(shell(script), never)));
    await Promise.all(others.map(({ released }) => released));
    await launcher.run(shell(unmarked.script), never);
    // The first run, its child, and one that may belong to any run.
    await vi.waitFor(() => expect(childrenOf(launcher.pid)).toHaveLength(3), WAIT);
    expect(isReleased).toBe(false);
    await writeFile(first.hold, 'end\n');
    await firstRun;
    await first.released;
    await unmarked.released;
  });

  test('is reaped during its run, when it ends by itself', async () => {
    const { launcher } = await start();
    const [there, hold] = [fifo(), fifo()];
    const script = `(setsid sh -c 'exit 0' &) & (setsid sh -c 'exit 0' &) & wait; echo > ${there}; read x < ${hold}`;
    const run = launcher.run(shell(script), never);
    await readFile(there);
    await vi.waitFor(() => expect(childrenOf(launcher.pid)).toHaveLength(1), WAIT);
    await writeFile(hold, 'end\n');
    await run;
  });
});
