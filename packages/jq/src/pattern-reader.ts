import { JqError } from './jq-error.ts';

/** Reads a regular expression from a position that only moves forward. */
export class PatternReader {
  readonly #pattern: string;
  #position = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#pattern.length;
  }

  /** Takes the next character; there is none at the end. */
  next(): string {
    const code = this.#pattern.codePointAt(this.#position);
    const character = code === undefined ? '' : String.fromCodePoint(code);
    this.#position += character.length;
    return character;
  }

  /** Whether these characters come next. */
  startsWith(start: string): boolean {
    return this.#pattern.startsWith(start, this.#position);
  }

  /** Takes these characters if they come next. */
  accept(start: string): boolean {
    const isNext = this.startsWith(start);
    if (isNext) this.#position += start.length;
    return isNext;
  }

  /** The match of a sticky expression at this position, without taking it. */
  lookAhead(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#position;
    return sticky.exec(this.#pattern) ?? undefined;
  }

  /** Takes the match of a sticky expression at this position. */
  match(sticky: RegExp): RegExpExecArray | undefined {
    const match = this.lookAhead(sticky);
    this.#position += match?.[0].length ?? 0;
    return match;
  }
}

/** An error in Oniguruma's words. */
export function regexFailure(problem: string): JqError {
  return new JqError(`Regex failure: ${problem}`);
}

/** For a construct that JavaScript cannot express. */
export function unsupported(construct: string): JqError {
  return regexFailure(`${construct} not supported by the built-in engine`);
}
