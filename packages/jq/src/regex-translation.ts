// Writes the tree of a regular expression as a RegExp of JavaScript. Most nodes have a counterpart. The work
// lies in groups: loops forget them and references to groups without a match succeed in JavaScript, so the
// writer tracks which groups have certainly matched at each point. Where both engines could differ it throws
// an "unsupported" JqError: a wrong match in a filter would be worse than an error.

import { regexFailure, unsupported } from './pattern-reader.ts';
import { parseRegex, type RegexOptions } from './regex-parser.ts';
import {
  groupsIn,
  minLength,
  type RegexBackReference,
  type RegexCase,
  type RegexLook,
  type RegexNode,
  type RegexRepeat,
} from './regex-tree.ts';

export interface Translation {
  /** For JavaScript, with flag `v`, and flag `i` if the options ignore case. */
  readonly source: string;
  /** Names of the groups, in order; the group with index `n` is named as {@link groupName} says. */
  readonly names: readonly (string | null)[];
  /** Names of empty groups; the match begins where the last of them is. */
  readonly starts: readonly string[];
}

/** How a group is named in the translation, where groups of its own come in between. */
export function groupName(index: number): string {
  return `g${index}`;
}

/** Translates a regular expression of jq. Throws JqError for what has no counterpart in JavaScript. */
export function translateRegex(regex: string, options: RegexOptions): Translation {
  const { root, names, mixesCase } = parseRegex(regex, options);
  const writer = new RegexWriter(root, mixesCase ? options.ignoresCase : undefined);
  return { source: writer.write(root), names, starts: writer.starts };
}

/**
 * Groups differ: in JavaScript a reference to a group that took no part matches the empty text, and each round of a
 * loop forgets what its groups matched. References are written so that neither shows, or refused.
 */
class RegexWriter {
  readonly starts: string[] = [];
  readonly #lengths: ReadonlyMap<number, number>;
  /** Groups that have matched, whichever way the match went up to here. */
  #certain: ReadonlySet<number> = new Set();
  /** Groups of which a round of a loop may forget what an earlier one matched. */
  readonly #forgotten = new Set<number>();
  /** The groups in each loop around, and in each look-behind around. */
  readonly #loops: ReadonlySet<number>[] = [];
  readonly #lookBehinds: ReadonlySet<number>[] = [];
  #atomicCount = 0;
  /** How many look-arounds are open. */
  #lookCount = 0;

  /** Whether case is ignored here; undefined if it is the same everywhere. */
  #ignoresCase: boolean | undefined;

  constructor(root: RegexNode, ignoresCase: boolean | undefined) {
    this.#ignoresCase = ignoresCase;
    this.#lengths = new Map(groupsIn(root).map((group) => [group.index, minLength(group)]));
  }

  write(node: RegexNode): string {
    switch (node.kind) {
      case 'set':
        return this.#set(node.source);
      case 'assertion':
        return node.source;
      case 'sequence':
        return node.items.map((item) => this.#asItem(item)).join('');
      case 'alternatives':
        return this.#alternatives(node.branches);
      case 'repeat':
        return this.#repeat(node);
      case 'group': {
        const body = this.write(node.body);
        this.#certain = new Set([...this.#certain, node.index]);
        return `(?<${groupName(node.index)}>${body})`;
      }
      case 'look':
        return this.#look(node);
      case 'atomic':
        return this.#atomic(node.body);
      case 'keep':
        return this.#keep();
      case 'back-reference':
        return this.#references(node);
      case 'case':
        return this.#case(node);
    }
  }

  /**
   * Where the case differs within an expression, each set says its own: V8 applies that of one group to what is behind it
   * too, with flag `v` to sets, and to everything once it has compiled so much that it optimizes expressions no more.
   */
  #set(source: string): string {
    return this.#ignoresCase === undefined ? source : caseGroup(this.#ignoresCase, source);
  }

  /** Sets the case sensitivity for the sets and references inside. */
  #case({ ignoresCase, body }: RegexCase): string {
    const around = this.#ignoresCase;
    this.#ignoresCase = ignoresCase;
    const source = this.write(body);
    this.#ignoresCase = around;
    return `(?:${source})`;
  }

  /** Alternatives inside of a sequence need a group of their own. */
  #asItem(node: RegexNode): string {
    const source = this.write(node);
    return node.kind === 'alternatives' ? `(?:${source})` : source;
  }

  /** A group is certain afterwards only if it is in every branch. */
  #alternatives(branches: readonly RegexNode[]): string {
    const before = this.#certain;
    const results: ReadonlySet<number>[] = [];
    const sources = branches.map((branch) => {
      this.#certain = before;
      const source = this.write(branch);
      results.push(this.#certain);
      return source;
    });
    this.#certain = new Set(
      [...(results[0] ?? [])].filter((group) => results.every((all) => all.has(group))),
    );
    return sources.join('|');
  }

  /** A loop that may run no time makes none of its groups certain. */
  #repeat({ body, min, max, isLazy }: RegexRepeat): string {
    const before = this.#certain;
    const groups = groupsIn(body);
    const atom = this.#loopBody(body, max);
    if (min === 0) this.#certain = before;
    const lazy = isLazy ? '?' : '';
    if (min === 0 && max === 1) {
      // JavaScript does not enter a group for nothing; here one that matches the empty text has taken part.
      if (groups.length > 0) return isLazy ? `(?:|${atom})` : `(?:${atom}|)`;
      return `${atom}?${lazy}`;
    }
    if (max === Number.POSITIVE_INFINITY && min < 2) return `${atom}${min === 0 ? '*' : '+'}${lazy}`;
    const upper = max === Number.POSITIVE_INFINITY ? '' : max;
    return `${atom}{${min === max ? min : `${min},${upper}`}}${lazy}`;
  }

  /** Groups inside of a loop may be forgotten by a later round, unless they are certain. */
  #loopBody(body: RegexNode, max: number): string {
    const groups = new Set(groupsIn(body).map(({ index }) => index));
    if (max > 1) this.#loops.push(groups);
    const source = this.write(body);
    if (max > 1) {
      this.#loops.pop();
      for (const group of groups) if (!this.#certain.has(group)) this.#forgotten.add(group);
    }
    return body.kind === 'set' || body.kind === 'group' ? source : `(?:${source})`;
  }

  /** A negative look-around never leaves its groups set. */
  #look({ sign, body }: RegexLook): string {
    const before = this.#certain;
    const isBehind = sign === '?<=' || sign === '?<!';
    if (isBehind) this.#lookBehinds.push(new Set(groupsIn(body).map(({ index }) => index)));
    this.#lookCount += 1;
    const source = this.write(body);
    this.#lookCount -= 1;
    if (isBehind) this.#lookBehinds.pop();
    if (sign === '?!' || sign === '?<!') this.#certain = before;
    return `(${sign}${source})`;
  }

  /** A look-ahead is matched in one way only, and what it matched is then matched for good. */
  #atomic(body: RegexNode): string {
    if (this.#lookBehinds.length > 0) throw unsupported('atomic groups and \\R in look-behinds are');
    this.#atomicCount += 1;
    const name = `a${this.#atomicCount}`;
    return `(?:(?=(?<${name}>${this.write(body)}))\\k<${name}>)`;
  }

  /** An empty group marks the position; `regex.ts` cuts the match there. */
  #keep(): string {
    if (this.#loops.length > 0) throw unsupported('\\K in a group that is repeated is');
    if (this.#lookCount > 0) throw unsupported('\\K in a look-around is');
    const name = `k${this.starts.length + 1}`;
    this.starts.push(name);
    return `(?<${name}>)`;
  }

  /**
   * Several groups can have the same name: the alternatives are in the order in which Oniguruma tries them.
   */
  #references({ groups }: RegexBackReference): string {
    const sources = groups.map((group) => this.#reference(group)).join('|');
    return this.#ignoresCase === undefined ? `(?:${sources})` : caseGroup(this.#ignoresCase, sources);
  }

  /** A reference to one group. Throws JqError where JavaScript would match something else. */
  #reference(group: number): string {
    const same = `\\k<${groupName(group)}>`;
    if (this.#lookBehinds.some((groups) => groups.has(group))) {
      throw unsupported('back-references to groups of the same look-behind are');
    }
    if (this.#certain.has(group)) return same;
    if (this.#forgotten.has(group) || this.#loops.some((groups) => groups.has(group))) {
      throw unsupported('back-references to what an earlier round of a loop matched are');
    }
    if (this.#lengths.get(group) === 0) {
      throw unsupported('back-references to groups that may be empty, or take no part, are');
    }
    // At the end of the text only the empty text matches: then the group took no part.
    return `(?=[^]*(?![^])(?!${same}))${same}`;
  }
}

/** A group with a modifier, such as `(?i:…)`. */
function caseGroup(ignoresCase: boolean, source: string): string {
  return `(?${ignoresCase ? '' : '-'}i:${source})`;
}

/** An error of JavaScript's parser, which is not meant to happen, without its copy of the translation. */
export function translationFailure(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return regexFailure(message.slice(message.lastIndexOf(': ') + 2));
}
