/** A regular expression of jq as a tree. Sources are those of JavaScript, with flag `v`. */
export type RegexNode =
  | RegexSet
  | RegexAssertion
  | RegexSequence
  | RegexAlternatives
  | RegexRepeat
  | RegexGroup
  | RegexLook
  | RegexAtomic
  | RegexKeep
  | RegexBackReference
  | RegexCase;

/** Matches one character. */
export interface RegexSet {
  readonly kind: 'set';
  readonly source: string;
}

/** Matches a position. */
export interface RegexAssertion {
  readonly kind: 'assertion';
  readonly source: string;
}

/** Matches its items one after the other. */
export interface RegexSequence {
  readonly kind: 'sequence';
  readonly items: readonly RegexNode[];
}

/** Matches the first branch with which the rest matches too. */
export interface RegexAlternatives {
  readonly kind: 'alternatives';
  readonly branches: readonly RegexNode[];
}

/** Matches the body several times; `max` may be infinite. */
export interface RegexRepeat {
  readonly kind: 'repeat';
  readonly body: RegexNode;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
}

/** A group that captures; the first one has index 1. */
export interface RegexGroup {
  readonly kind: 'group';
  readonly index: number;
  readonly body: RegexNode;
}

/** Matches a position by looking ahead or behind it. */
export interface RegexLook {
  readonly kind: 'look';
  readonly sign: '?=' | '?!' | '?<=' | '?<!';
  readonly body: RegexNode;
}

/** Once matched, the body is not matched in another way. */
export interface RegexAtomic {
  readonly kind: 'atomic';
  readonly body: RegexNode;
}

/** `\K`: the result begins here. */
export interface RegexKeep {
  readonly kind: 'keep';
}

/** Matches what one of the groups matched. The first of them that took part counts. */
export interface RegexBackReference {
  readonly kind: 'back-reference';
  readonly groups: readonly number[];
}

/** A body with another case sensitivity than what is around it. */
export interface RegexCase {
  readonly kind: 'case';
  readonly ignoresCase: boolean;
  readonly body: RegexNode;
}

/** A parsed expression. */
export interface RegexTree {
  readonly root: RegexNode;
  /** Names of the groups, in order. */
  readonly names: readonly (string | null)[];
  /** Whether there are `case` nodes. */
  readonly mixesCase: boolean;
}

/** Matches the empty string. */
export const EMPTY: RegexSequence = { kind: 'sequence', items: [] };

/** The fewest characters that a node matches. */
export function minLength(node: RegexNode): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'sequence':
      return node.items.reduce((sum, item) => sum + minLength(item), 0);
    case 'alternatives':
      return Math.min(...node.branches.map(minLength));
    case 'repeat':
      return node.min === 0 ? 0 : node.min * minLength(node.body);
    case 'group':
    case 'atomic':
    case 'case':
      return minLength(node.body);
    case 'assertion':
    case 'look':
    case 'keep':
    case 'back-reference':
      return 0;
  }
}

/** Every group in a node. */
export function groupsIn(node: RegexNode): readonly RegexGroup[] {
  switch (node.kind) {
    case 'sequence':
      return node.items.flatMap(groupsIn);
    case 'alternatives':
      return node.branches.flatMap(groupsIn);
    case 'group':
      return [node, ...groupsIn(node.body)];
    case 'repeat':
    case 'look':
    case 'atomic':
    case 'case':
      return groupsIn(node.body);
    case 'set':
    case 'assertion':
    case 'keep':
    case 'back-reference':
      return [];
  }
}
