import { readdirSync, readFileSync } from 'node:fs';
import { sum } from './figures.ts';

/** Milliseconds of CPU that a process has used so far, all its threads together, to the microsecond. */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const usedNs = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return usedNs.reduce((total, used) => total + used, 0) / 1e6;
}

/** Megabytes of memory that a process has in RAM, pages shared with other processes included; 0 if it has none. */
export function rssMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024;
}

/** What the process alone holds in memory. */
export function privateKb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const fields = [...text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)];
  return sum(fields.map(([, kb]) => Number(kb)));
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === parent)
    .map(Number);
}

/** 0 for a process that has just ended. */
function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return 0;
  }
}
