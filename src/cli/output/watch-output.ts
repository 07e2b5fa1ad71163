import type { TextOutput } from '../cli-host.ts';

const ENTER_ALTERNATE_SCREEN = '\u001b[?1049h';
const LEAVE_ALTERNATE_SCREEN = '\u001b[?1049l';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';
const ERASE_REST_OF_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Where a response is shown that changes. */
export interface WatchOutput {
  /** @param title changes with each look; @param text the response */
  show(title: string, text: string): void;
  end(): void;
}

/** Colours a text and changes nothing else. */
type Painter = (text: string) => string;

/** The alternate screen of a terminal, or lines for anything else. */
export function watchOutput(output: TextOutput, paint: Painter = (text) => text): WatchOutput {
  return output.isTTY === true ? new WatchScreen(output, paint) : new WatchLines(output);
}

/** Draws a response over the one before; only lines that differ are written, so that nothing flickers. */
class WatchScreen implements WatchOutput {
  readonly #output: TextOutput;
  readonly #paint: Painter;
  readonly #redraw = (): void => this.#draw();
  #wanted: readonly string[] = [];
  #shown: readonly string[] = [];
  #size = '';

  constructor(output: TextOutput, paint: Painter) {
    this.#output = output;
    this.#paint = paint;
    output.write(ENTER_ALTERNATE_SCREEN);
    output.on?.('resize', this.#redraw);
  }

  show(title: string, text: string): void {
    this.#wanted = [title, '', ...text.replace(/\n$/, '').split('\n')];
    this.#draw();
  }

  end(): void {
    this.#output.off?.('resize', this.#redraw);
    this.#output.write(LEAVE_ALTERNATE_SCREEN);
  }

  #draw(): void {
    // A terminal that does not know its size, such as one of `kubectl exec`, has 0 of both.
    const columns = this.#output.columns || DEFAULT_SIZE.columns;
    const rows = this.#output.rows || DEFAULT_SIZE.rows;
    const isResized = `${columns} ${rows}` !== this.#size;
    const lines = fitting(this.#wanted, columns, rows);
    // Painted after the cut: a colour takes no place on the screen.
    const painted = this.#paint(lines.join('\n')).split('\n');
    let text = isResized ? CLEAR_SCREEN : '';
    for (const [index, line] of lines.entries())
      if (isResized || line !== this.#shown[index])
        text += `\u001b[${index + 1};1H${painted[index]}${line.length < columns ? ERASE_REST_OF_LINE : ''}`;
    if (!isResized && lines.length < this.#shown.length)
      text += `\u001b[${lines.length + 1};1H${ERASE_BELOW}`;
    this.#size = `${columns} ${rows}`;
    this.#shown = lines;
    if (text !== '') this.#output.write(text);
  }
}

/** A line that wraps would move all those below it. */
function fitting(lines: readonly string[], columns: number, rows: number): readonly string[] {
  const room = Math.max(1, rows);
  const hidden = lines.length - room + 1;
  const kept = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${hidden} more lines`];
  return kept.map((line) => (line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`));
}

/** Writes the first response, and then the lines that the response before did not have. */
class WatchLines implements WatchOutput {
  readonly #output: TextOutput;
  #shown: ReadonlySet<string> = new Set();

  constructor(output: TextOutput) {
    this.#output = output;
  }

  show(_title: string, text: string): void {
    const lines = text.replace(/\n$/, '').split('\n');
    const added = lines.filter((line) => !this.#shown.has(line));
    this.#shown = new Set(lines);
    if (added.length > 0) this.#output.write(added.map((line) => `${line}\n`).join(''));
  }

  end(): void {
    this.#shown = new Set();
  }
}
