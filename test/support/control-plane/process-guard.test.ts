import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { GuardedProcess } from './guarded-process.ts';
import { ProcessGuard } from './process-guard.ts';

const WAIT_MS = 20_000;

test('close() kills what still runs and removes the directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'process-guard-'));
  const guard = ProcessGuard.start(directory);
  const logFile = join(directory, 'log');
  const spec = {
    name: 'sleeper',
    file: 'sh',
    args: ['-c', 'echo up; sleep 600'],
    cwd: directory,
    logFile,
    guard,
  };
  const sleeper = await GuardedProcess.start(spec);
  await vi.waitFor(() => expect(sleeper.logTail).toBe('up'), WAIT_MS);
  await guard.close();
  await sleeper.exited;
  expect([sleeper.isRunning, existsSync(directory)]).toEqual([false, false]);
});

test('kill() waits for the processes of the group, not for the first one alone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'process-guard-'));
  const guard = ProcessGuard.start(directory);
  const children = Array.from({ length: 20 }, () => 'sleep 600 & echo $!;').join(' ');
  const process = await GuardedProcess.start({
    name: 'parent',
    file: 'sh',
    args: ['-c', `${children} echo up; wait`],
    cwd: directory,
    logFile: join(directory, 'log'),
    guard,
  });
  await vi.waitFor(() => expect(process.logTail).toMatch(/up$/), WAIT_MS);
  const pids = readFileSync(join(directory, 'log'), 'utf8').split('\n').slice(0, 20).map(Number);
  await process.kill();
  const states = await Promise.all(pids.map(stateOf));
  await guard.close();
  // A process of the group that nobody has collected yet would still be in it.
  expect(states).toEqual(pids.map(() => ''));
});

test('the guard works when the process that started it is killed', async () => {
  const script = `
    import { mkdtempSync } from 'node:fs';
    import { ProcessGuard } from '${join(import.meta.dirname, 'process-guard.ts')}';
    import { GuardedProcess } from '${join(import.meta.dirname, 'guarded-process.ts')}';
    const directory = mkdtempSync('${join(tmpdir(), 'process-guard-')}');
    const guard = ProcessGuard.start(directory);
    const spec = { name: 's', file: 'sleep', args: ['600'], cwd: '/', logFile: directory + '/log', guard };
    const { pid } = await GuardedProcess.start(spec);
    console.log(JSON.stringify({ directory, pid }));
    setInterval(() => undefined, 1000);
  `;
  const owner = execa(process.execPath, ['--input-type=module', '-e', script], { reject: false });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const { directory, pid } = JSON.parse(line.toString()) as { directory: string; pid: number };
  expect(await stateOf(pid)).toMatch(/^[RSD]/);
  owner.kill('SIGKILL');
  await owner;
  await vi.waitFor(async () => {
    expect(existsSync(directory)).toBe(false);
    expect(await stateOf(pid)).toMatch(/^(Z|$)/);
  }, WAIT_MS);
});

/** State of a process as ps has it, Z for one that is dead and not yet collected, empty when there is none. */
async function stateOf(pid: number): Promise<string> {
  return (await execa('ps', ['-o', 'stat=', '-p', String(pid)], { reject: false })).stdout;
}
