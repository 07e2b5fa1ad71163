import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, vi } from 'vitest';
import type { World } from './world.ts';

/** Command lines of the processes alive that have to do with the directories of a world: its hooks and helms. */
export async function processesOf(world: World): Promise<readonly string[]> {
  const { stdout } = await execa('ps', ['-e', '-o', 'stat=,args=']);
  return stdout
    .split('\n')
    .filter(
      (line) => line.includes(world.directory) && !line.startsWith('Z') && !line.includes('dist/main.js'),
    );
}

/** `ps` takes 20 ms of CPU time on a machine that is busy with other tests. */
const PATIENCE = { timeout: 60_000, interval: 200 };

/** Waits until no such process is left: one that was killed is seen until it had its last turn. */
export async function untilNoProcesses(world: World): Promise<void> {
  await vi.waitFor(async () => expect(await processesOf(world)).toEqual([]), PATIENCE);
}

/** Pids of the processes that a process started itself. */
export async function childrenOf(parent: number): Promise<readonly number[]> {
  const { stdout } = await execa('ps', ['-e', '-o', 'pid=,ppid=']);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, parentPid]) => (parentPid === parent ? [pid] : []));
}

/** Makes `$WORLD/gate`: a hook that reads from it blocks until {@link openGate}. */
export async function makeGate(world: World): Promise<void> {
  await execa('mkfifo', [join(world.directory, 'gate')]);
}

/** Lets the one hook go on that reads from the gate; waits for it to come there. */
export async function openGate(world: World): Promise<void> {
  await writeFile(join(world.directory, 'gate'), 'go\n');
}
