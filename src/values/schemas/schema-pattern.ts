import {
  classTextOf,
  codePointText,
  complementOf,
  POSIX_CLASSES,
  type Ranges,
  SPACES,
} from './character-ranges.ts';

/**
 * A regular expression as schemas have them, in the syntax of RE2. What RE2 does not have, such as looking ahead, is
 * taken as JavaScript understands it.
 *
 * @throws SyntaxError for anything that neither knows
 */
export function schemaPattern(pattern: string): RegExp {
  return new RegExp(new Translation(pattern).whole(), 'u');
}

/** What is in force up to the end of a group. */
interface Group {
  /** Whether a dot takes line feeds. */
  readonly dotAll: boolean;
  /** Flags set in the middle of the group: each stands in brackets of its own, up to the next alternative. */
  readonly modifiers: readonly string[];
}

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);
const REPETITION = /\{\d+(?:,\d*)?\}/y;
const FLAGS = /\(\?(?<on>[imsU]*)(?:-(?<off>[imsU]+))?(?<end>[:)])/y;
const NAMED_GROUP = /\(\?P?<(?=[A-Za-z_])/y;
const OTHER_GROUP = /\(\?(?:<?[=!]|:)/y;
const PROPERTY = /\\(?<sign>[pP])(?:\{(?<not>\^?)(?<name>\w+)\}|(?<letter>[A-Z]))/y;
const CODE =
  /\\(?:x\{(?<long>[0-9A-Fa-f]{1,6})\}|x(?<short>[0-9A-Fa-f]{2})|u(?<unit>[0-9A-Fa-f]{4})|(?<octal>0[0-7]{0,2}|[1-7][0-7]{1,2}))/y;
const POSIX = /\[:(?<not>\^?)(?<name>\w+):\]/y;

class Translation {
  readonly #pattern: string;
  readonly #outer: Group[] = [];
  #group: Group = { dotAll: false, modifiers: [] };
  #position = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  whole(): string {
    let text = '';
    while (this.#position < this.#pattern.length) text += this.#next();
    return text + this.#closing();
  }

  #next(): string {
    const character = this.#take();
    switch (character) {
      case '\\':
        return this.#escape();
      case '[':
        return this.#class();
      case '(':
        return this.#open();
      case ')': {
        const closing = this.#closing();
        this.#group = this.#outer.pop() ?? this.#group;
        return `${closing})`;
      }
      case '|':
        return `${this.#closing()}|${this.#group.modifiers.join('')}`;
      case '.':
        return this.#group.dotAll ? '[^]' : '[^\\n]';
      case '{': {
        this.#position -= 1;
        const repetition = this.#match(REPETITION)?.[0];
        if (repetition === undefined) this.#position += 1;
        return repetition ?? '\\{';
      }
      case '}':
      case ']':
        return `\\${character}`;
      default:
        return character;
    }
  }

  #closing(): string {
    return ')'.repeat(this.#group.modifiers.length);
  }

  #open(): string {
    this.#position -= 1;
    const flags = this.#match(FLAGS)?.groups;
    if (flags !== undefined) return this.#flags(flags['on'] ?? '', flags['off'] ?? '', flags['end'] === ':');
    const named = this.#match(NAMED_GROUP) === undefined ? undefined : '(?<';
    const text = named ?? this.#match(OTHER_GROUP)?.[0] ?? this.#take();
    this.#enter(this.#group.dotAll);
    return text;
  }

  #flags(on: string, off: string, isGroup: boolean): string {
    const dotAll = (this.#group.dotAll || on.includes('s')) && !off.includes('s');
    // Whether a repetition takes much or little does not matter to whether there is a match.
    const [added, removed] = [on, off].map((flags) => flags.replaceAll(/[sU]/g, ''));
    const text = `(?${added}${removed === '' ? '' : `-${removed}`}:`;
    if (isGroup) this.#enter(dotAll);
    else this.#group = { dotAll, modifiers: [...this.#group.modifiers, text] };
    return text;
  }

  #enter(dotAll: boolean): void {
    this.#outer.push(this.#group);
    this.#group = { dotAll, modifiers: [] };
  }

  #escape(): string {
    if (this.#peek() === 'Q') return this.#quoted();
    if (this.#peek() === 'A') return this.#skip('(?<![^])');
    if (this.#peek() === 'z') return this.#skip('(?![^])');
    if (/[bB1-9]/.test(this.#peek()) && !this.#isOctal()) return `\\${this.#take()}`;
    const set = this.#set();
    if (set !== undefined) return `[${set}]`;
    return codePointText(this.#escapedCode());
  }

  /** Everything up to `\E` means itself. */
  #quoted(): string {
    const end = this.#pattern.indexOf('\\E', this.#position);
    const text = this.#pattern.slice(this.#position + 1, end < 0 ? undefined : end);
    this.#position = end < 0 ? this.#pattern.length : end + 2;
    return Array.from(text, (character) => codePointText(character.codePointAt(0) ?? 0)).join('');
  }

  #class(): string {
    const not = this.#peek() === '^' ? this.#skip('^') : '';
    let text = '';
    for (let isFirst = true; isFirst || this.#peek() !== ']'; isFirst = false) text += this.#classItem();
    return this.#skip(`[${not}${text}]`);
  }

  #classItem(): string {
    const posix = this.#match(POSIX)?.groups;
    if (posix !== undefined) return posixText(posix['name'] ?? '', posix['not'] === '^');
    if (this.#peek() === '\\') {
      this.#position += 1;
      const set = this.#set();
      if (set !== undefined) return set;
      this.#position -= 1;
    }
    const first = this.#classCode();
    const isRange = this.#peek() === '-' && this.#pattern.charAt(this.#position + 1) !== ']';
    if (!isRange) return codePointText(first);
    this.#position += 1;
    return `${codePointText(first)}-${codePointText(this.#classCode())}`;
  }

  #classCode(): number {
    const character = this.#take();
    return character === '\\' ? this.#escapedCode() : (character.codePointAt(0) ?? 0);
  }

  /** A set of characters behind a backslash, as it stands in a class; undefined if it is something else. */
  #set(): string | undefined {
    const kind = this.#peek();
    if (/[dDwW]/.test(kind)) return `\\${this.#take()}`;
    if (kind === 's') return this.#skip(classTextOf(SPACES));
    if (kind === 'S') return this.#skip(classTextOf(complementOf(SPACES)));
    this.#position -= 1;
    const { sign, not, name, letter } = this.#match(PROPERTY)?.groups ?? {};
    if (sign === undefined) {
      this.#position += 1;
      return undefined;
    }
    const isNegated = (sign === 'P') !== (not === '^');
    const property = letter ?? name ?? '';
    const isScript = property.length > 2 && property !== 'Any';
    return `\\${isNegated ? 'P' : 'p'}{${isScript ? 'Script=' : ''}${property}}`;
  }

  /** The character that a backslash, which is taken already, and what follows it stand for. */
  #escapedCode(): number {
    this.#position -= 1;
    const { long, short, unit, octal } = this.#match(CODE)?.groups ?? {};
    const hex = long ?? short ?? unit;
    if (hex !== undefined) return Number.parseInt(hex, 16);
    if (octal !== undefined) return Number.parseInt(octal, 8);
    this.#position += 1;
    const character = this.#take();
    const control = CONTROLS.get(character);
    if (control !== undefined) return control;
    if (/^[!-/:-@[-`{-~ ]$/.test(character)) return character.charCodeAt(0);
    throw new SyntaxError(`\\${character} is unknown`);
  }

  #isOctal(): boolean {
    return /^[1-7][0-7]/.test(this.#pattern.slice(this.#position, this.#position + 2));
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(expression);
    sticky.lastIndex = this.#position;
    const found = sticky.exec(this.#pattern) ?? undefined;
    if (found !== undefined) this.#position += found[0].length;
    return found;
  }

  /** The next character, a whole code point. */
  #take(): string {
    const codePoint = this.#pattern.codePointAt(this.#position);
    if (codePoint === undefined) throw new SyntaxError('it ends too early');
    const character = String.fromCodePoint(codePoint);
    this.#position += character.length;
    return character;
  }

  #peek(): string {
    return this.#pattern.charAt(this.#position);
  }

  /** Passes over one character. */
  #skip(text: string): string {
    this.#position += 1;
    return text;
  }
}

function posixText(name: string, isNegated: boolean): string {
  const ranges: Ranges | undefined = POSIX_CLASSES.get(name);
  if (ranges === undefined) throw new SyntaxError(`[:${name}:] is unknown`);
  return classTextOf(isNegated ? complementOf(ranges) : ranges);
}
