import type { CliHost } from './cli-host.ts';
import { cut, type Paint, paintFor, wantsColor } from './paint.ts';
import { progressBlock } from './progress-block.ts';
import type { ProgressEvent } from './progress-event.ts';
import { lineOf, type ProgressLine } from './progress-line.ts';
import { advance, NO_PROGRESS, type Progress } from './progress-state.ts';
import { TerminalBlock } from './terminal-block.ts';

const TICK_MS = 1_000;
const STYLES = { good: 'green', plain: undefined, warning: 'yellow', failure: 'red' } as const;

/**
 * Shows the progress of the daemon. A terminal sees one block that is drawn over itself until {@link endBlock}, other
 * outputs see a line for each event, and from then on both do.
 */
export class ProgressDisplay {
  readonly #host: Pick<CliHost, 'stdout' | 'clock'>;
  readonly #paint: Paint;
  readonly #isTerminal: boolean;
  readonly #startedMs: number;
  readonly #ended = new AbortController();
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

  /** Keeps the time in the block up to date; resolves once the block has ended. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    while (this.#hasBlock) {
      this.#draw();
      await this.#host.clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  show(event: ProgressEvent): void {
    const line = lineOf(event, this.#progress);
    this.#progress = advance(this.#progress, event);
    if (!this.#hasBlock) {
      if (line !== undefined) this.#host.stdout.write(`${this.#formatted(line)}\n`);
      return;
    }
    if (line?.kind === 'failure' || line?.kind === 'warning') this.#block.writeAbove(this.#formatted(line));
    this.#draw();
  }

  /** Ends the block: what was shown last stays, and lines follow. */
  endBlock(): void {
    if (this.#hasBlock) this.#draw();
    this.#block.release();
    this.#ended.abort();
  }

  /** Writes a text as it is, below everything that was shown. */
  write(text: string): void {
    this.endBlock();
    this.#host.stdout.write(text);
  }

  get #hasBlock(): boolean {
    return this.#isTerminal && !this.#ended.signal.aborted;
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
    this.#block.draw(progressBlock(this.#progress, options));
  }

  #formatted({ kind, text }: ProgressLine): string {
    const time = new Date(this.#host.clock.wallMs()).toTimeString().slice(0, 8);
    const { columns } = this.#host.stdout;
    const room = this.#isTerminal && columns ? columns - time.length - 2 : Number.POSITIVE_INFINITY;
    const style = STYLES[kind];
    const shown = kind === 'failure' || kind === 'warning' ? text : cut(text, room);
    return `${this.#paint('dim', time)} ${style === undefined ? shown : this.#paint(style, shown)}`;
  }
}
