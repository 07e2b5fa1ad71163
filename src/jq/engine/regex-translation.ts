import { JqError } from './jq-error.ts';

/** What JavaScript has to be told about a regular expression of jq (Oniguruma with the syntax of Perl). */
export interface RegexOptions {
  readonly isExtended: boolean;
  /** Whether `.` matches line ends. */
  readonly isDotAll: boolean;
}

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{M}\\p{Nd}',
  alpha: '\\p{L}\\p{M}',
  ascii: '\\x00-\\x7f',
  blank: ' \\t',
  cntrl: '\\p{Cc}',
  digit: '\\p{Nd}',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  lower: '\\p{Ll}',
  print: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}',
  punct: '\\p{P}\\p{S}',
  space: '\\s\\x85',
  upper: '\\p{Lu}',
  word: '\\p{L}\\p{M}\\p{Nd}\\p{Pc}',
  xdigit: '0-9a-fA-F',
};

/** Escapes that mean the same in JavaScript, or that have another name there. */
const ESCAPES: Readonly<Record<string, string>> = {
  A: '(?<![^])',
  z: '(?![^])',
  Z: '(?=\\n?(?![^]))',
  a: '\\x07',
  e: '\\x1b',
  h: '[0-9a-fA-F]',
  H: '[^0-9a-fA-F]',
  w: `[${POSIX_CLASSES['word'] ?? ''}]`,
  W: `[^${POSIX_CLASSES['word'] ?? ''}]`,
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '[\\s\\x85]',
  S: '[^\\s\\x85]',
};
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  H: '[^0-9a-fA-F]',
  W: `[^${POSIX_CLASSES['word'] ?? ''}]`,
  D: '\\P{Nd}',
  S: '[^\\s\\x85]',
  a: '\\x07',
  e: '\\x1b',
  b: '\\x08',
  h: '0-9a-fA-F',
  w: POSIX_CLASSES['word'] ?? '',
  d: '\\p{Nd}',
  s: '\\s\\x85',
};
const SAME_ESCAPES = /^[bBfnrtv0-9]/;
const LONG_ESCAPE = /\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{1,2})|([pP])\{(\^?)([\w ]+)\}|k<(\w+)>)/y;
const QUANTIFIER = /[*+?]|\{\d+(?:,\d*)?\}/y;
const INLINE_FLAGS = /\(\?([imsx]*)(?:-([imsx]+))?([:)])/y;
const NAMED_GROUP = /\(\?P?<([A-Za-z_]\w*)>/y;

/** The source of a JavaScript regular expression (flags `u` or `v`). Throws JqError for what has no counterpart. */
export function translateRegex(regex: string, options: RegexOptions): string {
  return new Translation(regex, options).run();
}

class Translation {
  readonly #regex: string;
  readonly #isDotAll: boolean;
  #isExtended: boolean;
  #position = 0;
  /** What closes each open group, and whether it was extended before it. */
  readonly #open: { readonly closing: string; readonly wasExtended: boolean }[] = [];
  /** Where the atom begins in the output that a quantifier would repeat. */
  #atomAt = 0;
  readonly #starts: number[] = [];
  #output = '';
  /** What closes the groups that `(?i)` and the like opened outside of all groups. */
  #tail = '';

  constructor(regex: string, { isExtended, isDotAll }: RegexOptions) {
    this.#regex = regex;
    this.#isExtended = isExtended;
    this.#isDotAll = isDotAll;
  }

  run(): string {
    while (this.#position < this.#regex.length) this.#step();
    if (this.#open.length > 0) throw problem('end pattern with unmatched parenthesis');
    return this.#output + this.#tail;
  }

  #step(): void {
    const character = this.#regex[this.#position] ?? '';
    if (this.#isExtended && /\s/.test(character)) this.#position += 1;
    else if (this.#isExtended && character === '#') this.#skipTo('\n');
    else if (character === '\\') this.#atom(this.#escape(ESCAPES));
    else if (character === '[') this.#atom(this.#class());
    else if (character === '(') this.#openGroup();
    else if (character === ')') this.#closeGroup();
    else if (!this.#quantifier()) this.#plain(character);
  }

  #atom(text: string): void {
    this.#atomAt = this.#output.length;
    this.#output += text;
  }

  #plain(character: string): void {
    this.#position += 1;
    if (character === '$') this.#atom('(?=\\n?(?![^]))');
    else if (character === '^') this.#atom('(?<![^])');
    else if (character === '.') this.#atom(this.#isDotAll ? '[^]' : '[^\\n]');
    else if (character === '|') this.#output += '|';
    else if (/[{}\]/]/.test(character)) this.#atom(`\\${character}`);
    else if (/[\ud800-\udbff]/.test(character)) {
      this.#atom(character + (this.#regex[this.#position] ?? ''));
      this.#position += 1;
    } else this.#atom(character);
  }

  #quantifier(): boolean {
    const text = this.#match(QUANTIFIER)?.[0];
    if (text === undefined) return false;
    if (this.#output.length === this.#atomAt) throw problem('target of repeat operator is not specified');
    if (this.#regex[this.#position] === '?') {
      this.#position += 1;
      this.#output += `${text}?`;
    } else if (this.#regex[this.#position] === '+' && !text.startsWith('{')) {
      throw problem('possessive quantifiers are not supported by the built-in engine');
    } else this.#output += text;
    return true;
  }

  #openGroup(): void {
    if (this.#regex.startsWith('(?#', this.#position)) {
      this.#skipTo(')');
      return;
    }
    this.#starts.push(this.#output.length);
    const flags = this.#match(INLINE_FLAGS);
    if (flags !== undefined) {
      this.#inlineFlags(flags);
      return;
    }
    this.#open.push({ closing: ')', wasExtended: this.#isExtended });
    const name = this.#match(NAMED_GROUP)?.[1];
    if (name !== undefined) this.#output += `(?<${name}>`;
    else if (this.#regex.startsWith('(?>', this.#position)) {
      throw problem('atomic groups are not supported by the built-in engine');
    } else {
      const start = /^\((?:\?(?:<?[=!]|:))?/.exec(this.#regex.slice(this.#position))?.[0] ?? '(';
      if (start === '(' && this.#regex[this.#position + 1] === '?') throw problem('undefined group option');
      this.#position += start.length;
      this.#output += start;
    }
    this.#atomAt = this.#output.length;
  }

  /** `(?i)` holds to the end of the group around it, `(?i:…)` for its own. */
  #inlineFlags([, added = '', removed = '', end = '']: RegExpExecArray): void {
    const wasExtended = this.#isExtended;
    if (added.includes('x')) this.#isExtended = true;
    if (removed.includes('x')) this.#isExtended = false;
    const isOwnGroup = end === ':';
    const on = added.includes('i') ? 'i' : '';
    const off = removed.includes('i') ? '-i' : '';
    if (isOwnGroup) {
      this.#output += `(?${on}${off}:`;
      this.#open.push({ closing: ')', wasExtended });
    } else {
      this.#starts.pop();
      const around = this.#open.pop();
      this.#output += `(?${on}${off}:`;
      // The group that begins here ends together with the one around it.
      if (around === undefined) this.#tail += ')';
      else this.#open.push({ closing: `)${around.closing}`, wasExtended: around.wasExtended });
    }
    this.#atomAt = this.#output.length;
  }

  #closeGroup(): void {
    const group = this.#open.pop();
    if (group === undefined) throw problem('unmatched close parenthesis');
    this.#position += 1;
    this.#output += group.closing;
    this.#isExtended = group.wasExtended;
    this.#atomAt = this.#starts.pop() ?? 0;
  }

  #class(): string {
    const negated = this.#regex.startsWith('[^', this.#position);
    this.#position += negated ? 2 : 1;
    let inner = '';
    let canStartRange = false;
    let endsRange = false;
    for (let isFirst = true; this.#regex[this.#position] !== ']' || isFirst; isFirst = false) {
      if (this.#position >= this.#regex.length) throw problem('premature end of char-class');
      const next = this.#regex[this.#position + 1];
      if (this.#regex[this.#position] === '-') {
        this.#position += 1;
        endsRange = canStartRange && next !== ']';
        inner += endsRange ? '-' : '\\-';
        canStartRange = !endsRange;
      } else {
        const { text, isSet } = this.#classItem();
        inner += text;
        canStartRange = !isSet && !endsRange;
        endsRange = false;
      }
    }
    this.#position += 1;
    return `[${negated ? '^' : ''}${inner}]`;
  }

  #classItem(): { readonly text: string; readonly isSet: boolean } {
    const character = this.#regex[this.#position] ?? '';
    const posix = this.#match(/\[:(\^?)(\w+):\]/y);
    if (posix !== undefined) {
      const set = POSIX_CLASSES[posix[2] ?? ''];
      if (set === undefined) throw problem('invalid POSIX bracket type');
      return { text: posix[1] === '^' ? `[^${set}]` : set, isSet: true };
    }
    if (character === '\\') {
      const isSet = /[wdshWDSHpP]/.test(this.#regex[this.#position + 1] ?? '');
      return { text: this.#escape(CLASS_ESCAPES), isSet };
    }
    this.#position += 1;
    const isSyntax = /[()[\]{}/|&^!#$%*+,.:;<=>?@`~]/.test(character);
    const text = isSyntax ? `\\u{${character.charCodeAt(0).toString(16)}}` : character;
    return { text, isSet: false };
  }

  #escape(names: Readonly<Record<string, string>>): string {
    const long = this.#match(LONG_ESCAPE);
    if (long !== undefined) {
      const [, wide, short, property, negation, name, group] = long;
      const code = wide ?? short;
      if (code !== undefined) return `\\u{${code}}`;
      if (group !== undefined) return `\\k<${group}>`;
      const isNegated = (property === 'P') !== (negation === '^');
      return propertyClass(name ?? '', isNegated);
    }
    const character = Array.from(this.#regex.slice(this.#position + 1, this.#position + 3))[0];
    if (character === undefined) throw problem('end pattern at escape');
    this.#position += 1 + character.length;
    const named = Object.hasOwn(names, character) ? names[character] : undefined;
    if (named !== undefined) return named;
    if (SAME_ESCAPES.test(character)) return `\\${character}`;
    return /\w/.test(character) || character.length > 1 || character > '\x7f'
      ? character
      : `\\u{${character.charCodeAt(0).toString(16)}}`;
  }

  #skipTo(end: string): void {
    const at = this.#regex.indexOf(end, this.#position);
    this.#position = at === -1 ? this.#regex.length : at + 1;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#regex) ?? undefined;
    if (match !== undefined) this.#position += match[0].length;
    return match;
  }
}

function propertyClass(name: string, isNegated: boolean): string {
  const posix = POSIX_CLASSES[name.toLowerCase()];
  if (posix !== undefined) return `[${isNegated ? '^' : ''}${posix}]`;
  const isCategory = /^(?:[LMNPSZC][a-z&]?|Any|ASCII|Alphabetic|Letter|Number)$/.test(name);
  return `\\${isNegated ? 'P' : 'p'}{${isCategory ? '' : 'Script='}${name}}`;
}

function problem(text: string): JqError {
  return new JqError(`Regex failure: ${text}`);
}
