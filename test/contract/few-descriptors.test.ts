import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const EVERY_SECOND = (queue: string, more = ''): string =>
  `schedule: [{name: tick, crontab: "* * * * * *", queue: ${queue}${more}}]`;

const ALLOWED = 'hook failed, but the failure is allowed';
const RETRIED = 'Global hook failed, requeue task to retry after delay.';
const ENOUGH = 100;

/** Sets the soft limit: descriptors below this number can be opened. */
async function limitDescriptors(pid: number, limit: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);
}

async function descriptorsOf(pid: number): Promise<readonly number[]> {
  return (await readdir(`/proc/${pid}/fd`)).map(Number);
}

/** The limit that leaves so many descriptors free. */
async function limitFor(pid: number, free: number): Promise<number> {
  const open = new Set(await descriptorsOf(pid));
  let limit = 0;
  for (let left = free; left > 0 || open.has(limit); limit += 1) if (!open.has(limit)) left -= 1;
  return limit;
}

// FAULT-D12
test.skipIf(process.platform !== 'linux')(
  'hooks fail in words and run again, when the launcher dies while few descriptors are free, and later more are',
  async () => {
    await using backend = await sandboxBackend();
    await using world = await World.create(backend, {
      globalHooks: {
        'retried.sh': shHook(EVERY_SECOND('retried'), 'echo "retried runs"'),
        'failing.sh': shHook(EVERY_SECOND('failing', ', allowFailure: true'), 'echo "failing runs"'),
      },
    });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    await daemon.log.untilPrinted('retried runs');
    const { pid: launcher } = await daemon.record('launcher started');
    // The next runs need descriptors only for a new launcher: at first even for the files of hooks there are none.
    await limitDescriptors(daemon.pid, 1);
    process.kill(Number(launcher), 'SIGKILL');
    const failures = new Set<string>();
    for (const free of [0, 0, 1, 2, 4, 6]) {
      const seen = daemon.log.records.length;
      await daemon.log.until(
        (records) => records.slice(seen).filter(({ msg }) => msg === ALLOWED).length >= 2,
      );
      for (const { msg, error } of daemon.log.records.slice(seen))
        if (msg === ALLOWED || msg === RETRIED) failures.add(String(error));
      await limitDescriptors(daemon.pid, await limitFor(daemon.pid, free));
    }
    // What was under way when the launcher died says so.
    const unclear = [...failures].filter((error) => !/too many open files|has ended/.test(error));
    expect(unclear).toEqual([]);
    expect([...failures].join('\n')).toMatch(/Cannot start the launcher .*EMFILE.*ulimit -n/);
    await daemon.record(RETRIED);

    const runs = (): number => daemon.log.printed.filter((line) => line === 'retried runs').length;
    const before = runs();
    await limitDescriptors(daemon.pid, await limitFor(daemon.pid, ENOUGH));
    await daemon.log.untilPrinted('retried runs', before + 2);
    expect(await daemon.status('/healthz')).toBe(200);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  },
);
