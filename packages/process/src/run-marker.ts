import { readFileSync } from 'node:fs';
import { environmentPlace } from './process-alive.ts';

/** A variable of every process that a launcher runs; its children inherit it, wherever they go. */
export const RUN_VARIABLE = 'ADDON_OPERATOR_RUN';

const NUL = 0;
const RUN_NUMBER = /^\d+(?=\0|$)/;
/** More than the digits of a run. */
const RUN_BYTES = 16;

/** The value of {@link RUN_VARIABLE}. @param launcherId a random name, so that no other launcher has the same runs */
export function runMarker(launcherId: string, run: number): string {
  return `${launcherId}.${run}`;
}

/** The run of this launcher that an environment, as in `/proc/<pid>/environ`, is marked with. */
export function markedRun(environ: Buffer, launcherId: string): number | undefined {
  const prefix = `${RUN_VARIABLE}=${launcherId}.`;
  for (let at = environ.indexOf(prefix); at !== -1; at = environ.indexOf(prefix, at + 1)) {
    if (at > 0 && environ[at - 1] !== NUL) continue;
    const start = at + prefix.length;
    const run = RUN_NUMBER.exec(environ.toString('latin1', start, start + RUN_BYTES));
    if (run !== null) return Number(run[0]);
  }
  return undefined;
}

/**
 * As {@link markedRun}, of a process. Undefined also where its environment cannot be read, or is that of another program.
 * While a process replaces its program (execve), the kernel shows no environment, for microseconds or, on a busy machine,
 * much longer: `unknown` then, and a later call returns the run.
 */
export function runOfProcess(pid: number, launcherId: string): number | 'unknown' | undefined {
  for (let isRepeated = false; ; isRepeated = true) {
    const environ = environOf(pid);
    if (environ === undefined) return undefined;
    if (environ.length > 0) return markedRun(environ, launcherId);
    const place = environmentPlace(pid);
    if (place === undefined) return undefined;
    if (place.start !== place.end || place.start === 0) return 'unknown';
    // The kernel sets the start a moment before the end: only what is empty twice is empty.
    if (isRepeated) return undefined;
  }
}

function environOf(pid: number): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return undefined;
  }
}
