import type { Logger } from '@addon-operator/base/log';
import type { LivingProcess } from './process-alive.ts';
import type { EscapedProcesses } from './process-runner.ts';

/** Keeps the log record and the frame of a run short, however many it left behind. */
const MAX_LISTED = 20;

/** @param log of the run, so that the record names its hook */
export function warnOfEscaped(log: Logger, escaped: EscapedProcesses, facts: object = {}): void {
  log.warn({ ...facts, ...escaped }, 'terminated processes that had left the process group of their run');
}

/** Collects, run by run, processes that left their group and were killed. */
export class EscapedByRun {
  readonly #byRun = new Map<number | undefined, LivingProcess[]>();

  /**
   * Remembers a process, unless it is in the group of a run: what is left of the group is killed with the run, and is
   * only found here because it is not dead yet.
   *
   * @param run undefined when nothing says which run it belongs to
   */
  add(run: number | undefined, living: LivingProcess | undefined, groups: ReadonlySet<number>): void {
    if (living === undefined || groups.has(living.group)) return;
    const known = this.#byRun.get(run);
    if (known === undefined) this.#byRun.set(run, [living]);
    else known.push(living);
  }

  /** The processes collected for a run since the last call; undefined when there are none. */
  take(run: number | undefined): EscapedProcesses | undefined {
    const all = this.#byRun.get(run);
    this.#byRun.delete(run);
    return (
      all && {
        count: all.length,
        processes: all.slice(0, MAX_LISTED).map(({ pid, command }) => ({ pid, command })),
      }
    );
  }
}
