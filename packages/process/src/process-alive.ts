import { readFileSync } from 'node:fs';

/** Places in what `/proc/<pid>/stat` says behind the name of the program. */
const STATE_FIELD = 0;
const PARENT_FIELD = 1;
const GROUP_FIELD = 2;
const FLAGS_FIELD = 6;
const START_FIELD = 19;
const ENVIRONMENT_FIELDS = [47, 48] as const;
/** The bit of the flags that the kernel sets when a process begins to end. */
const EXITING = 0x4;

/**
 * Whether a process of this host exists; one that we may not signal exists too.
 *
 * @param start what {@link processStart} said of it once; another process, or a thread of one, may have its number now
 */
export function isProcessAlive(pid: number, start?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return start === undefined || (processStart(pid) ?? start) === start;
}

/** One letter for what a process does, such as `T` for one that a signal has stopped; undefined where the system does not say. */
export function processState(pid: number): string | undefined {
  return statField(pid, STATE_FIELD);
}

/** When a process began, in ticks since the host did, as text; undefined where the system does not say. */
export function processStart(pid: number): string | undefined {
  return statField(pid, START_FIELD);
}

/** The parent of a process; undefined where the system does not provide it. */
export function parentOf(pid: number): number | undefined {
  const parent = statField(pid, PARENT_FIELD);
  return parent === undefined ? undefined : Number(parent);
}

/** Facts about a process that is not ending by itself. */
export interface LivingProcess {
  readonly pid: number;
  /** The short name of its program, without arguments. */
  readonly command: string;
  readonly group: number;
}

/** Undefined for a process that is ending or dead, and where the system has no such information. */
export function livingProcess(pid: number): LivingProcess | undefined {
  const stat = statOf(pid);
  if (stat === undefined || (Number(stat.fields[FLAGS_FIELD]) & EXITING) !== 0) return undefined;
  return { pid, command: stat.command, group: Number(stat.fields[GROUP_FIELD]) };
}

/**
 * Where the environment of a process lies in its memory; two zeros while it replaces its program. Undefined for a process
 * that is ending or dead, and where the system has no such information.
 */
export function environmentPlace(pid: number): { readonly start: number; readonly end: number } | undefined {
  const stat = statOf(pid);
  if (stat === undefined || (Number(stat.fields[FLAGS_FIELD]) & EXITING) !== 0) return undefined;
  const [start, end] = ENVIRONMENT_FIELDS.map((field) => Number(stat.fields[field]));
  return start === undefined || end === undefined ? undefined : { start, end };
}

function statField(pid: number, field: number): string | undefined {
  return statOf(pid)?.fields[field];
}

function statOf(pid: number): { readonly command: string; readonly fields: readonly string[] } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold anything, brackets and spaces too.
    const end = stat.lastIndexOf(')');
    return { command: stat.slice(stat.indexOf('(') + 1, end), fields: stat.slice(end + 2).split(' ') };
  } catch {
    return undefined;
  }
}
