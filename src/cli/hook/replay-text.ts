import { countReplays, fullNameOf, type ReplayResult } from '../../recordings/hook-recordings.ts';
import type { Paint, Style } from '../output/paint.ts';

/** The outcome of one recording. */
export type ReplayedFile = ReplayResult & { readonly file: string };

interface Unusable {
  readonly file: string;
  readonly problem: string;
}

const STYLES: Readonly<Record<ReplayResult['result'], Style>> = {
  same: 'green',
  differs: 'yellow',
  failed: 'red',
  impure: 'red',
};

/** Collects the results of a replay, and writes those that are not the same as they come. */
export class ReplayReport {
  readonly #paint: Paint;
  readonly #write: (text: string) => void;
  readonly #results: ReplayedFile[] = [];
  readonly #unusable: Unusable[] = [];
  readonly #notes: string[] = [];
  /** The first file with each explanation: hundreds of runs may differ in the same way. */
  readonly #shown = new Map<string, string>();

  constructor(paint: Paint, write: (text: string) => void) {
    this.#paint = paint;
    this.#write = write;
  }

  add(result: ReplayedFile): void {
    this.#results.push(result);
    if (result.result === 'same') return;
    const lines = result.result === 'differs' ? result.diff : [result.reason];
    const explanation = lines.join('\n');
    const key = `${result.module}/${result.hook} ${result.result} ${explanation}`;
    const first = this.#shown.get(key);
    if (first === undefined) this.#shown.set(key, result.file);
    this.#write(
      `${this.#paint(STYLES[result.result], result.result)} ${result.file}: ${fullNameOf(result)} for ${result.binding}\n${
        first === undefined
          ? lines
              .flatMap((line) => line.split('\n'))
              .map((line) => `${result.result === 'differs' ? this.#painted(line) : `  ${line}`}\n`)
              .join('')
          : `  as ${first}\n`
      }`,
    );
  }

  /** A file that is no recording that could be replayed. */
  unusable(file: string, problem: string): void {
    this.#unusable.push({ file, problem });
    this.#write(`${this.#paint('red', 'unusable')} ${problem}\n`);
  }

  note(text: string): void {
    this.#notes.push(text);
    this.#write(`${this.#paint('yellow', 'note')} ${text}\n`);
  }

  /** Writes the numbers. */
  end(): void {
    const { same, differs, failed, impure } = countReplays(this.#results);
    const total = this.#results.length;
    const optional: readonly (readonly [number, string])[] = [
      [failed, 'failed'],
      [impure, 'impure'],
      [this.#unusable.length, 'unusable'],
    ];
    const parts = [
      `${same} same`,
      `${differs} ${differs === 1 ? 'differs' : 'differ'}`,
      ...optional.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])),
    ];
    this.#write(`${total} recorded ${total === 1 ? 'run' : 'runs'} on today's hooks: ${parts.join(', ')}\n`);
  }

  get json(): object {
    const counts = { ...countReplays(this.#results), unusable: this.#unusable.length };
    return { counts, results: this.#results, unusable: this.#unusable, notes: this.#notes };
  }

  /** 0 all came to the same, 1 one did not, 2 a recording cannot be used. */
  get exitCode(): number {
    if (this.#unusable.length > 0) return 2;
    return this.#results.every(({ result }) => result === 'same') ? 0 : 1;
  }

  #painted(line: string): string {
    if (/^ *- /.test(line.slice(0, MARK_END))) return this.#paint('red', line);
    return /^ *\+ /.test(line.slice(0, MARK_END)) ? this.#paint('green', line) : line;
  }
}

/** Where the mark of a line of a difference ends. */
const MARK_END = 6;
