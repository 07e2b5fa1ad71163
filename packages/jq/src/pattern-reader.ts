import { JqError } from './jq-error.ts';

/** A position in the text of a regular expression. */
export class PatternReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  /** Takes the next character; there is none at the end. */
  next(): string {
    const code = this.#text.codePointAt(this.#position);
    const character = code === undefined ? '' : String.fromCodePoint(code);
    this.#position += character.length;
    return character;
  }

  startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.#position);
  }

  /** Takes the text if it comes next. */
  accept(text: string): boolean {
    const isNext = this.startsWith(text);
    if (isNext) this.#position += text.length;
    return isNext;
  }

  /** What a sticky expression matches here. */
  lookAhead(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#position;
    return sticky.exec(this.#text) ?? undefined;
  }

  /** Takes what a sticky expression matches here. */
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
