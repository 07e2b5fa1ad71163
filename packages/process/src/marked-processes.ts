import { readdirSync } from 'node:fs';
import { type LivingProcess, livingProcess, processStart } from './process-alive.ts';
import { runOfProcess } from './run-marker.ts';

/**
 * A process that is being killed may start others until it is dead, and one that replaces its program shows its run a moment
 * later; a handful of passes finds those too.
 */
const MAX_PASSES = 10;

export interface KilledProcess {
  readonly run: number;
  readonly living: LivingProcess;
}

/**
 * Kills the processes of this machine that a launcher has marked, wherever they have gone. For processes that are not our
 * children: their numbers can be used again at any time, so each is compared with its start time right before the signal.
 * Without `/proc` nothing is found.
 *
 * @param isEnded whether the processes of a run are to end
 * @returns what was killed, but for processes that were ending already
 */
export function killMarkedProcesses(
  launcherId: string,
  isEnded: (run: number) => boolean,
): readonly KilledProcess[] {
  const all = new Map<number, KilledProcess>();
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    let isOver = true;
    for (const pid of allPids()) {
      const start = processStart(pid);
      const run = runOfProcess(pid, launcherId);
      if (run === 'unknown') isOver = false;
      if (start === undefined || typeof run !== 'number' || !isEnded(run)) continue;
      const living = livingProcess(pid);
      if (processStart(pid) !== start || !kill(living?.group === pid ? -pid : pid)) continue;
      isOver = false;
      if (living !== undefined && !all.has(pid)) all.set(pid, { run, living });
    }
    if (isOver) break;
  }
  return [...all.values()];
}

/**
 * Kills the group of a process that may be gone since long.
 *
 * @param start what `processStart` said of its leader; with another start the number is that of a stranger. Without a leader
 *   the number belongs to the group, or to no process
 */
export function killGroupOf(pid: number, start: string | undefined): void {
  const now = processStart(pid);
  if (now === undefined || now === start) kill(-pid);
}

function allPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // It is gone, or belongs to another user.
    return false;
  }
}
