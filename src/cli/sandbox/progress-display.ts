import { escapeControls } from '@addon-operator/strings/escape-controls';
import type { OperatorStatus } from '../../status/operator-status.ts';
import type { CliHost } from '../cli-host.ts';
import { cut, type Paint, paintFor, wantsColor } from '../output/paint.ts';
import { TerminalBlock } from '../output/terminal-block.ts';
import { progressBlock } from './progress-block.ts';
import type { ProgressEvent } from './progress-event.ts';
import { type ProgressLine, progressLineOf } from './progress-line.ts';
import { advance, NO_PROGRESS, type Progress } from './progress-state.ts';

/** What stays above the block, uncut. */
const STAYING: ReadonlySet<ProgressLine['kind']> = new Set(['lasting', 'warning', 'failure']);
const TICK_MS = 1_000;
const STYLES = {
  good: 'green',
  plain: undefined,
  lasting: undefined,
  warning: 'yellow',
  failure: 'red',
} as const;

/** Hooks that have been running for long: what names the run, and what is said about it now. */
export type LongHooks = () => readonly { readonly key: string; readonly text: string }[];

/** The state of the operator in one sentence. */
export type CurrentStatus = () => Pick<OperatorStatus, 'level' | 'text'>;

/**
 * Shows the progress of the daemon. A terminal sees one block that is drawn over itself until {@link endBlock}, other
 * outputs see a line for each event, and from then on both do.
 */
export class ProgressDisplay {
  /** What is shown of hooks that run for long; nothing until the daemon runs. */
  #longHooks: LongHooks = () => [];
  /** Those that a line was written about. */
  #reported: ReadonlySet<string> = new Set();
  #status: CurrentStatus | undefined;
  /** The problem that a line was written about, without its numbers; empty for none. */
  #saidProblem: string | undefined;
  #seenProblem: string | undefined;
  readonly #host: Pick<CliHost, 'stdout' | 'clock'>;
  readonly #paint: Paint;
  readonly #isTerminal: boolean;
  readonly #startedMs: number;
  readonly #stopped = new AbortController();
  #isBlockEnded = false;
  readonly #block: TerminalBlock;
  #progress: Progress = NO_PROGRESS;

  constructor(host: Pick<CliHost, 'stdout' | 'clock' | 'env'>) {
    this.#host = host;
    this.#isTerminal = host.stdout.isTTY === true && host.env['TERM'] !== 'dumb';
    this.#paint = paintFor(wantsColor(host.stdout.isTTY === true, host.env));
    this.#startedMs = host.clock.steadyMs();
    this.#block = new TerminalBlock(host.stdout);
  }

  get progress(): Progress {
    return this.#progress;
  }

  get paint(): Paint {
    return this.#paint;
  }

  get elapsedMs(): number {
    return this.#host.clock.steadyMs() - this.#startedMs;
  }

  /** Keeps the block up to date, and names hooks that run for long once it has ended; resolves after {@link stop}. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      if (this.#hasBlock) this.#draw();
      else {
        this.#writeLongHooks();
        this.#writeStatus();
      }
      await this.#host.clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  /** From now on hooks that run for long are shown. */
  showLongHooks(longHooks: LongHooks): void {
    this.#longHooks = longHooks;
  }

  /** From now on the block, and later a line, says when the operator needs a person, and when it no longer does. */
  showStatus(status: CurrentStatus): void {
    this.#status = status;
  }

  show(event: ProgressEvent): void {
    const line = progressLineOf(event, this.#progress);
    this.#progress = advance(this.#progress, event);
    if (!this.#hasBlock) {
      if (line !== undefined) this.#host.stdout.write(`${this.#formatted(line)}\n`);
      return;
    }
    if (line !== undefined && STAYING.has(line.kind)) this.#block.writeAbove(this.#formatted(line));
    this.#draw();
  }

  /** Ends the block: what was shown last stays, and lines follow. */
  endBlock(): void {
    if (this.#hasBlock) this.#draw();
    this.#block.release();
    this.#isBlockEnded = true;
  }

  /** Ends the block and {@link run}; what is shown later is written as lines. */
  stop(): void {
    this.endBlock();
    this.#stopped.abort();
  }

  /** Writes a text as it is, below everything that was shown. */
  write(text: string): void {
    this.endBlock();
    this.#host.stdout.write(text);
  }

  get #hasBlock(): boolean {
    return this.#isTerminal && !this.#isBlockEnded;
  }

  /** One line for each run: it goes on until a person ends it. */
  #writeLongHooks(): void {
    const long = this.#longHooks();
    for (const { key, text } of long) {
      if (!this.#reported.has(key))
        this.#host.stdout.write(`${this.#formatted({ kind: 'warning', text })}\n`);
    }
    this.#reported = new Set(long.map(({ key }) => key));
  }

  /** What lasts for a second; the screen at the end has shown the first state. */
  #writeStatus(): void {
    if (this.#status === undefined) return;
    const { level, text } = this.#status();
    const problem = level === 'broken' ? text.replaceAll(/\d+/g, '') : '';
    const isLasting = problem === this.#seenProblem;
    this.#seenProblem = problem;
    if (!isLasting || problem === this.#saidProblem) return;
    const isFirst = this.#saidProblem === undefined;
    this.#saidProblem = problem;
    if (isFirst) return;
    const kind = level === 'broken' ? 'warning' : 'good';
    this.#host.stdout.write(`${this.#formatted({ kind, text: `status: ${escapeControls(text)}` })}\n`);
  }

  #draw(): void {
    const { columns, rows } = this.#host.stdout;
    // A terminal that does not know its size says 0.
    const options = {
      width: columns || 80,
      height: rows || 24,
      elapsedMs: this.elapsedMs,
      paint: this.#paint,
    };
    const longHooks = this.#longHooks().map(({ text }) => text);
    const status = this.#status?.();
    const problem = status?.level === 'broken' ? status.text : undefined;
    this.#block.draw(progressBlock(this.#progress, { ...options, longHooks, problem }));
  }

  #formatted({ kind, text }: ProgressLine): string {
    const time = new Date(this.#host.clock.wallMs()).toTimeString().slice(0, 8);
    const { columns } = this.#host.stdout;
    const room = this.#isTerminal && columns ? columns - time.length - 2 : Number.POSITIVE_INFINITY;
    const style = STYLES[kind];
    const shown = STAYING.has(kind) ? text : cut(text, room);
    return `${this.#paint('dim', time)} ${style === undefined ? shown : this.#paint(style, shown)}`;
  }
}
