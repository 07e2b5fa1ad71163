// Parses Oniguruma's Perl syntax into the tree of `regex-tree.ts`. Constructs that JavaScript cannot express
// are refused here, by name, before anything is matched; mistakes get Oniguruma's own messages. Positions
// such as `^` and `\b` are written as look-arounds, since those of JavaScript follow other rules at line ends
// and for Unicode.

import { PatternReader, regexFailure, unsupported } from './pattern-reader.ts';
import { readClass } from './regex-class.ts';
import {
  characterSource,
  codeOf,
  readCharacterEscape,
  readCodeList,
  readEscapedCharacter,
  readSetEscape,
} from './regex-escape.ts';
import { WIDE_WORD } from './regex-property.ts';
import { type Quantifier, readQuantifier, repeated } from './regex-quantifier.ts';
import { EMPTY, type RegexLook, type RegexNode, type RegexTree } from './regex-tree.ts';

export interface RegexOptions {
  readonly ignoresCase: boolean;
  readonly isExtended: boolean;
  /** Whether `.` matches line ends. */
  readonly isDotAll: boolean;
  /** Whether `^` and `$` match at each line. */
  readonly isMultiLine: boolean;
}

const TEXT_START = '(?<![^])';
const TEXT_END = '(?![^])';
const LAST_LINE_END = '(?=\\n?(?![^]))';
/** A line that would begin at the end of the text is none. */
const LINE_START = '(?:(?<![^])|(?<=\\n)(?=[^]))';
const LINE_END = '(?![^\\n])';
const W = `[${WIDE_WORD}]`;

/** Escapes that match a position. */
const ASSERTIONS: ReadonlyMap<string, string> = new Map([
  ['A', TEXT_START],
  ['z', TEXT_END],
  ['Z', LAST_LINE_END],
  ['b', `(?:(?<=${W})(?!${W})|(?<!${W})(?=${W}))`],
  ['B', `(?:(?<=${W})(?=${W})|(?<!${W})(?!${W}))`],
]);
/** Escapes without a counterpart, with the subject of the error message. */
const UNSUPPORTED_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['G', '\\G (where the search starts) is'],
  ['X', '\\X (a text segment) is'],
  ['y', '\\y (a boundary of text segments) is'],
  ['Y', '\\Y (no boundary of text segments) is'],
]);
/** Starts of groups without a counterpart, with the subject of the error message. */
const UNSUPPORTED_GROUPS: readonly (readonly [RegExp, string])[] = [
  [/\(\?~/y, 'absent operators, (?~...), are'],
  [/\(\?\(/y, 'conditions, (?(...)...), are'],
  [/\(\?(?:&|P>|R\)|[+-]?\d)/y, 'calls of groups are'],
  [/\(\?\{|\(\*/y, 'callouts are'],
];
/** White space that flag `x` ignores. */
const BLANK = /[ \t\n\r\f]/y;
const NAMED_GROUP = /\(\?(?:P?<(?![=!])([^)>]*)(>?)|'([^')]*)('?))/y;
const REFERENCE = /\\(?:k<([^>)]+)>|k'([^')]+)'|([1-9]\d*))/y;

/** Parses a regular expression of jq (Oniguruma with the syntax of Perl). Throws JqError for what has no counterpart. */
export function parseRegex(regex: string, options: RegexOptions): RegexTree {
  return new RegexParser(regex, options).parse();
}

/** Neighbours in a sequence with the same case sensitivity. */
interface Segment {
  readonly ignoresCase: boolean;
  readonly items: RegexNode[];
}

class RegexParser {
  readonly #reader: PatternReader;
  #options: RegexOptions;
  readonly #names: (string | null)[] = [];
  /** The highest number of a group that a reference has named. */
  #lastReference = 0;
  #mixesCase = false;

  constructor(regex: string, options: RegexOptions) {
    this.#reader = new PatternReader(regex);
    this.#options = options;
  }

  parse(): RegexTree {
    const root = this.#alternatives();
    if (!this.#reader.isAtEnd) throw regexFailure('unmatched close parenthesis');
    if (this.#lastReference > this.#names.length) throw regexFailure('invalid backref number/name');
    return { root, names: this.#names, mixesCase: this.#mixesCase };
  }

  /** Everything to the end of the group. */
  #alternatives(): RegexNode {
    const { ignoresCase } = this.#options;
    const branches: RegexNode[] = [];
    do branches.push(this.#branch(ignoresCase));
    while (this.#reader.accept('|'));
    return single(branches) ?? { kind: 'alternatives', branches };
  }

  /** Flags such as `(?i)` hold to the end of the group, in later branches too, and do not join the branches. */
  #branch(ignoresCase: boolean): RegexNode {
    const segments: Segment[] = [];
    let items: RegexNode[] = [];
    const startSegment = (): void => {
      items = [];
      segments.push({ ignoresCase: this.#options.ignoresCase, items });
    };
    startSegment();
    while (!this.#reader.isAtEnd && !this.#reader.startsWith('|') && !this.#reader.startsWith(')')) {
      if (this.#skipped()) continue;
      if (this.#inlineFlags()) {
        startSegment();
        continue;
      }
      const quantifier = readQuantifier(this.#reader);
      if (quantifier === undefined) items.push(...this.#atoms());
      else items.push(repeatable(items.pop(), quantifier));
    }
    const nodes = segments.flatMap((segment): readonly RegexNode[] => {
      if (segment.items.length === 0 || segment.ignoresCase === ignoresCase) return segment.items;
      return [this.#case(segment.ignoresCase, sequence(segment.items))];
    });
    return sequence(nodes);
  }

  /** Comments, and blanks with flag `x`. */
  #skipped(): boolean {
    if (this.#reader.accept('(?#')) {
      if (this.#reader.match(/(?:\\[^]|[^\\)])*\)/y) === undefined)
        throw regexFailure('end pattern in group');
      return true;
    }
    return (
      this.#options.isExtended &&
      (this.#reader.match(BLANK) !== undefined || this.#reader.match(/#[^\n]*/y) !== undefined)
    );
  }

  /** `(?i)`; the group `(?i:...)` is another thing. */
  #inlineFlags(): boolean {
    const match = this.#reader.match(/\(\?([imsx]*)(?:-([imsx]*))?\)/y);
    if (match === undefined) return false;
    this.#options = withFlags(this.#options, match);
    return true;
  }

  /** One element; a list of codes, `\x{41 42}`, and `\Q…\E` are several. */
  #atoms(): readonly RegexNode[] {
    if (this.#reader.accept('\\Q')) return this.#quoted();
    if (this.#reader.startsWith('\\')) return this.#escape();
    if (this.#reader.startsWith('[')) return [{ kind: 'set', source: readClass(this.#reader) }];
    if (this.#reader.startsWith('(')) return [this.#group()];
    const { isMultiLine, isDotAll } = this.#options;
    const character = this.#reader.next();
    if (character === '^') return [{ kind: 'assertion', source: isMultiLine ? LINE_START : TEXT_START }];
    if (character === '$') return [{ kind: 'assertion', source: isMultiLine ? LINE_END : LAST_LINE_END }];
    if (character === '.') return [{ kind: 'set', source: isDotAll ? '[^]' : '[^\\n]' }];
    return [literal(codeOf(character))];
  }

  /** Up to `\E`, or the end; a quantifier behind it repeats the last character. */
  #quoted(): readonly RegexNode[] {
    const items: RegexNode[] = [];
    while (!this.#reader.isAtEnd && !this.#reader.accept('\\E'))
      items.push(literal(codeOf(this.#reader.next())));
    return items.length === 0 ? [EMPTY] : items;
  }

  /** An escape outside of a class, in the order in which Oniguruma tries its meanings. */
  #escape(): readonly RegexNode[] {
    const reference = this.#reference();
    if (reference !== undefined) return [reference];
    const codes = readCodeList(this.#reader);
    if (codes !== undefined) return codes.map(([first, last]) => literalOf(first, last));
    const property = this.#reader.startsWith('\\p') || this.#reader.startsWith('\\P');
    const set = readSetEscape(this.#reader, false);
    // Sets outside of brackets do not follow flag `i`: `(?i)\p{Lu}` does not match `a`.
    if (set !== undefined) return [property ? this.#exactCase(set) : { kind: 'set', source: set }];
    const code = readCharacterEscape(this.#reader);
    if (code !== undefined) return [literal(code)];
    return [this.#letterEscape()];
  }

  /** Escapes of one letter: positions, `\R`, `\K`, `\N`, `\O`; any other letter means itself. */
  #letterEscape(): RegexNode {
    if (this.#reader.accept('\\R')) return GENERAL_NEWLINE;
    if (this.#reader.accept('\\K')) return { kind: 'keep' };
    if (this.#reader.accept('\\N')) return { kind: 'set', source: '[^\\n]' };
    if (this.#reader.accept('\\O')) return { kind: 'set', source: '[^]' };
    if (this.#reader.match(/\\g[<']/y) !== undefined) throw unsupported('calls of groups are');
    const letter = this.#reader.match(/\\([AzZbBGXyY])/y)?.[1];
    if (letter === undefined) return literal(readEscapedCharacter(this.#reader));
    const source = ASSERTIONS.get(letter);
    if (source === undefined) throw unsupported(UNSUPPORTED_ESCAPES.get(letter) ?? letter);
    return { kind: 'assertion', source };
  }

  /** Numbers that no group has are octal, or digits, unless they have one digit. */
  #reference(): RegexNode | undefined {
    const count = this.#names.length;
    const digits = this.#reader.lookAhead(/\\([1-9]\d*)/y)?.[1];
    if (digits !== undefined && digits.length > 1 && Number(digits) > count) return undefined;
    const match = this.#reader.match(REFERENCE);
    if (match === undefined) return undefined;
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    if (/[+-]\d+$/.test(name) && !/^[+-]/.test(name)) throw unsupported('back-references with a level are');
    const number = /^[+-]?\d+$/.test(name) ? referredNumber(name, count) : undefined;
    if (number !== undefined) {
      if (number < 1) throw regexFailure('invalid backref number/name');
      this.#lastReference = Math.max(this.#lastReference, number);
      return { kind: 'back-reference', groups: [number] };
    }
    const groups = this.#names.flatMap((other, at) => (other === name ? [at + 1] : []));
    if (groups.length === 0) throw regexFailure(`undefined name <${name}> reference`);
    return { kind: 'back-reference', groups: groups.toReversed() };
  }

  /** A group of any kind; flags set inside end with it. */
  #group(): RegexNode {
    for (const [start, construct] of UNSUPPORTED_GROUPS) {
      if (this.#reader.match(start) !== undefined) throw unsupported(construct);
    }
    const around = this.#options;
    const node = this.#groupStart()(() => this.#alternatives());
    if (!this.#reader.accept(')')) throw regexFailure('end pattern with unmatched parenthesis');
    this.#options = around;
    return node;
  }

  /** Takes the start of a group, and says what is made of the rest. */
  #groupStart(): (body: () => RegexNode) => RegexNode {
    const flags = this.#reader.match(/\(\?([imsx]*)(?:-([imsx]*))?:/y);
    if (flags !== undefined) {
      this.#options = withFlags(this.#options, flags);
      const { ignoresCase } = this.#options;
      if (flags[0] === '(?:') return (body) => body();
      return (body) => this.#case(ignoresCase, body());
    }
    const named = this.#reader.match(NAMED_GROUP);
    if (named !== undefined) return this.#capturing(checkedName(named));
    const look = this.#reader.match(/\((\?<?[=!])/y)?.[1];
    if (look === '?=' || look === '?!' || look === '?<=' || look === '?<!') {
      return (body): RegexLook => ({ kind: 'look', sign: look, body: body() });
    }
    if (this.#reader.accept('(?>')) return (body) => ({ kind: 'atomic', body: body() });
    if (this.#reader.startsWith('(?')) {
      const isCut = this.#reader.match(/\(\?[imsx-]*$/y) !== undefined;
      throw regexFailure(isCut ? 'end pattern in group' : 'undefined group option');
    }
    this.#reader.accept('(');
    return this.#capturing(null);
  }

  /** Numbered when the group opens, as references count them. */
  #capturing(name: string | null): (body: () => RegexNode) => RegexNode {
    const index = this.#names.push(name);
    return (body) => ({ kind: 'group', index, body: body() });
  }

  /** A set that flag `i` does not widen. */
  #exactCase(source: string): RegexNode {
    const set: RegexNode = { kind: 'set', source };
    return this.#options.ignoresCase ? this.#case(false, set) : set;
  }

  /** Marks a part with another case sensitivity; the translation then spells it out everywhere. */
  #case(ignoresCase: boolean, body: RegexNode): RegexNode {
    this.#mixesCase = true;
    return { kind: 'case', ignoresCase, body };
  }
}

/** `\R`: atomic, so that the two characters of CR LF are never split. */
const GENERAL_NEWLINE: RegexNode = {
  kind: 'atomic',
  body: {
    kind: 'alternatives',
    branches: [
      { kind: 'sequence', items: [literal(0x0d), literal(0x0a)] },
      { kind: 'set', source: '[\\n-\\r\\x85\\u2028\\u2029]' },
    ],
  },
};

/** One character as a set. */
function literal(code: number): RegexNode {
  return { kind: 'set', source: characterSource(code) };
}

/** Outside of a class a range of codes has no meaning. */
function literalOf(first: number, last: number): RegexNode {
  if (first !== last) throw regexFailure('invalid code point value');
  return literal(first);
}

/** A single node needs no sequence around it. */
function sequence(items: readonly RegexNode[]): RegexNode {
  return single(items) ?? { kind: 'sequence', items };
}

function single(nodes: readonly RegexNode[]): RegexNode | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

/** A position cannot be repeated, nor can nothing. */
function repeatable(target: RegexNode | undefined, quantifier: Quantifier): RegexNode {
  if (target === undefined) throw regexFailure('target of repeat operator is not specified');
  const targets = target.kind === 'alternatives' ? target.branches : [target];
  if (targets.some(({ kind }) => kind === 'assertion' || kind === 'look' || kind === 'keep')) {
    throw regexFailure('target of repeat operator is invalid');
  }
  return repeated(target, quantifier);
}

/** The options with flags added and removed; in `(?s-s:…)` removing wins. */
function withFlags(options: RegexOptions, [, added = '', removed = '']: RegExpExecArray): RegexOptions {
  const is = (flag: string, before: boolean): boolean =>
    (before || added.includes(flag)) && !removed.includes(flag);
  return {
    ignoresCase: is('i', options.ignoresCase),
    isMultiLine: is('m', options.isMultiLine),
    isDotAll: is('s', options.isDotAll),
    isExtended: is('x', options.isExtended),
  };
}

/** `-1` is the last group before the reference, `+1` the next one. */
function referredNumber(name: string, count: number): number {
  if (name.startsWith('-')) return count + 1 + Number(name);
  return name.startsWith('+') ? count + Number(name) : Number(name);
}

/** The name of a group. Throws JqError if it is empty, begins with a digit or is not closed. */
function checkedName([, bracketed, closing, quoted, quote]: RegExpExecArray): string {
  const name = bracketed ?? quoted ?? '';
  if (name === '') throw regexFailure('group name is empty');
  if (/^[\d-]/.test(name) || !(closing ?? quote)) throw regexFailure(`invalid group name <${name}>`);
  return name;
}
