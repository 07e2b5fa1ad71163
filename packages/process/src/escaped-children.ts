import { EscapedByRun } from './escaped-processes.ts';
import { killMarkedProcesses } from './marked-processes.ts';
import type { EscapedProcesses } from './process-runner.ts';

/** Ends the children of runs that have left the process group of their run. */
export interface EscapedChildren {
  /**
   * Kills what is left of a run that has ended; `onGone` is called when nothing is, or after a second at the latest, with
   * what had left the group of the run.
   *
   * @param group the number of its process, which is that of its group
   */
  endRun(run: number, group: number, onGone: (escaped: EscapedProcesses | undefined) => void): void;
  /** Kills those of all runs; no run is started any more. */
  endAll(): void;
  /** As `endAll`, and waits for their death, a second at most: the launcher ends. */
  endWithLauncher(): void;
}

/** Without being their parent: looks at every process of the machine, at the end of every run. */
export function scannedChildren(
  launcherId: string,
  running: ReadonlyMap<number, { readonly pid: number }>,
): EscapedChildren {
  const escaped = new EscapedByRun();
  const kill = (isEnded: (run: number) => boolean, groups: ReadonlySet<number>): void => {
    for (const { run, living } of killMarkedProcesses(launcherId, isEnded)) escaped.add(run, living, groups);
  };
  const endAll = (): void => kill(() => true, new Set([...running.values()].map(({ pid }) => pid)));
  return {
    endRun: (run, group, onGone) => {
      kill((marked) => marked === run, new Set([group]));
      onGone(escaped.take(run));
    },
    endAll,
    endWithLauncher: endAll,
  };
}
