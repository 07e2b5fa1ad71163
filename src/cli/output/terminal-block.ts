import type { TextOutput } from '../cli-host.ts';

const ERASE_BELOW = '\u001b[J';
const ERASE_REST_OF_LINE = '\u001b[K';

/**
 * A block of lines at the end of a terminal that is drawn over itself. Each change is one write without clearing first,
 * so nothing flickers.
 */
export class TerminalBlock {
  readonly #output: TextOutput;
  #lines: readonly string[] = [];

  constructor(output: TextOutput) {
    this.#output = output;
  }

  /** Shows these lines in place of those before; no line may be wider than the terminal. */
  draw(lines: readonly string[]): void {
    if (lines.length === this.#lines.length && lines.every((line, index) => line === this.#lines[index]))
      return;
    this.#output.write(`${this.#toTop()}${this.#text(lines)}`);
    this.#lines = lines;
  }

  /** Writes a line that stays, above the block. */
  writeAbove(line: string): void {
    this.#output.write(`${this.#toTop()}${line}${ERASE_REST_OF_LINE}\n${this.#text(this.#lines)}`);
  }

  /** Leaves the block as it is; the next one begins below. */
  release(): void {
    this.#lines = [];
  }

  #text(lines: readonly string[]): string {
    return `${lines.map((line) => `${line}${ERASE_REST_OF_LINE}\n`).join('')}${ERASE_BELOW}`;
  }

  #toTop(): string {
    return this.#lines.length === 0 ? '' : `\u001b[${this.#lines.length}A\r`;
  }
}
