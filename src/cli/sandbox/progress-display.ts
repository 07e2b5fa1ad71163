import type { LogRecord } from '@addon-operator/logging/observe-log';
import type { FailedTask } from '../../queues/failed-task.ts';
import type { OperatorStatus } from '../../status/operator-status.ts';
import type { CliHost } from '../cli-host.ts';
import { type Paint, paintFor, wantsColor } from '../output/paint.ts';
import { lineOf, type ProgressLine, ProgressLines } from './progress-lines.ts';

const TICK_MS = 1_000;
const STYLES = { good: 'green', plain: undefined, warning: 'yellow', failure: 'red' } as const;

/** The running operator, as it is looked at once a second. */
export interface WatchedOperator {
  /** Hooks that have been running for long: what names the run, and a sentence about it. */
  readonly longHooks: () => readonly { readonly key: string; readonly text: string }[];
  /** The state of the operator in one sentence. */
  readonly status: () => Pick<OperatorStatus, 'level' | 'text'>;
}

/**
 * Shows what happens in the daemon, one line for each event, with the time. Once a second it looks at the running operator, and
 * writes a line about a hook that runs for long, and when the operator begins or ceases to need a person.
 */
export class ProgressDisplay {
  readonly lines = new ProgressLines();
  readonly paint: Paint;
  readonly #host: Pick<CliHost, 'stdout' | 'clock'>;
  readonly #startedMs: number;
  readonly #stopped = new AbortController();
  #operator: WatchedOperator | undefined;
  /** Long runs of hooks that a line was written about. */
  #reported: ReadonlySet<string> = new Set();
  /** The problem that a line was written about, without its numbers; empty for none. */
  #saidProblem: string | undefined;
  #seenProblem: string | undefined;

  constructor(host: Pick<CliHost, 'stdout' | 'clock' | 'env'>) {
    this.#host = host;
    this.paint = paintFor(wantsColor(host.stdout.isTTY === true, host.env));
    this.#startedMs = host.clock.steadyMs();
  }

  get elapsedMs(): number {
    return this.#host.clock.steadyMs() - this.#startedMs;
  }

  /** Looks at the operator once a second; resolves after {@link stop}. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      if (this.#operator !== undefined) {
        this.#writeLongHooks(this.#operator.longHooks());
        this.#writeStatus(this.#operator.status());
      }
      await this.#host.clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  watch(operator: WatchedOperator): void {
    this.#operator = operator;
  }

  showRecord(record: LogRecord): void {
    const line = this.lines.ofRecord(record);
    if (line !== undefined) this.#writeLine(line);
  }

  showFailure(failed: FailedTask): void {
    this.#writeLine(this.lines.ofFailure(failed));
  }

  say(text: string, kind: ProgressLine['kind'] = 'plain'): void {
    this.#writeLine(lineOf(kind, text));
  }

  /** Writes a text as it is. */
  write(text: string): void {
    this.#host.stdout.write(text);
  }

  /** One line for each run: it goes on until a person ends it. */
  #writeLongHooks(long: ReturnType<WatchedOperator['longHooks']>): void {
    for (const { key, text } of long) if (!this.#reported.has(key)) this.say(text, 'warning');
    this.#reported = new Set(long.map(({ key }) => key));
  }

  /** Writes a problem that lasts for a second; the screen at the end has shown the first state. */
  #writeStatus({ level, text }: ReturnType<WatchedOperator['status']>): void {
    const problem = level === 'broken' ? text.replaceAll(/\d+/g, '') : '';
    const isLasting = problem === this.#seenProblem;
    this.#seenProblem = problem;
    if (!isLasting || problem === this.#saidProblem) return;
    const isFirst = this.#saidProblem === undefined;
    this.#saidProblem = problem;
    if (!isFirst) this.say(`status: ${text}`, level === 'broken' ? 'warning' : 'good');
  }

  #writeLine({ kind, text }: ProgressLine): void {
    const time = new Date(this.#host.clock.wallMs()).toTimeString().slice(0, 8);
    const style = STYLES[kind];
    this.write(`${this.paint('dim', time)} ${style === undefined ? text : this.paint(style, text)}\n`);
  }
}
