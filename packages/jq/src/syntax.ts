import type { ArithmeticOperator } from './arithmetic.ts';
import type { Value } from './value.ts';

/** The syntax tree of a jq program. */
export type Node =
  | { readonly type: 'identity' }
  | { readonly type: 'group'; readonly inner: Node }
  | { readonly type: 'recurse' }
  | { readonly type: 'literal'; readonly value: Value }
  | { readonly type: 'text'; readonly format: string; readonly parts: readonly (string | Node)[] }
  | { readonly type: 'format'; readonly name: string }
  | { readonly type: 'index'; readonly target: Node; readonly key: Node; readonly isOptional: boolean }
  | {
      readonly type: 'slice';
      readonly target: Node;
      readonly start: Node | undefined;
      readonly end: Node | undefined;
      readonly isOptional: boolean;
    }
  | { readonly type: 'iterate'; readonly target: Node; readonly isOptional: boolean }
  | { readonly type: 'try'; readonly body: Node; readonly handler: Node | undefined }
  | { readonly type: 'variable'; readonly name: string; readonly line: number }
  | Call
  | { readonly type: 'array'; readonly body: Node | undefined }
  | { readonly type: 'object'; readonly entries: readonly ObjectEntry[] }
  | { readonly type: 'negate'; readonly operand: Node }
  | {
      readonly type: 'pipe' | 'comma' | 'and' | 'or' | 'alternative';
      readonly left: Node;
      readonly right: Node;
    }
  | {
      readonly type: 'operator';
      readonly operator: ArithmeticOperator;
      readonly left: Node;
      readonly right: Node;
    }
  | { readonly type: 'assign'; readonly operator: Assignment; readonly left: Node; readonly right: Node }
  | {
      readonly type: 'if';
      readonly condition: Node;
      readonly consequent: Node;
      readonly otherwise: Node | undefined;
    }
  | Bind
  | Reduce
  | Foreach
  | { readonly type: 'define'; readonly definition: Definition; readonly rest: Node }
  | { readonly type: 'label'; readonly name: string; readonly body: Node }
  | { readonly type: 'break'; readonly name: string; readonly line: number };

/** `|=` updates each place with an expression, the others combine it with a value. */
export type Assignment = '=' | '|=' | '+=' | '-=' | '*=' | '/=' | '%=' | '//=';

/** A call of a function, a parameter or a builtin; the line is for the error message. */
export interface Call {
  readonly type: 'call';
  readonly name: string;
  readonly args: readonly Node[];
  readonly line: number;
}

/** A key and a value of an object construction; both may have several outputs. */
export interface ObjectEntry {
  readonly key: Node;
  readonly value: Node;
}

/** `source as pattern ?// pattern | body` */
export interface Bind {
  readonly type: 'bind';
  readonly source: Node;
  readonly patterns: readonly Pattern[];
  readonly body: Node;
}

/** `reduce source as pattern (start; update)` */
export interface Reduce {
  readonly type: 'reduce';
  readonly source: Node;
  readonly patterns: readonly Pattern[];
  readonly start: Node;
  readonly update: Node;
}

/** `foreach source as pattern (start; update; extract)`; without `extract` the state is the output. */
export interface Foreach {
  readonly type: 'foreach';
  readonly source: Node;
  readonly patterns: readonly Pattern[];
  readonly start: Node;
  readonly update: Node;
  readonly extract: Node | undefined;
}

/** `def name(parameters): body;` */
export interface Definition {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Node;
}

/** A closure, or with `$` a value that its argument gives. */
export interface Parameter {
  readonly name: string;
  readonly isValue: boolean;
}

/** A destructuring pattern behind `as`. */
export type Pattern =
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'array'; readonly items: readonly Pattern[] }
  | { readonly type: 'object'; readonly entries: readonly PatternEntry[] };

/** An entry of an object pattern. */
export interface PatternEntry {
  readonly key: Node;
  /** `$name` in place of the key, or before it, binds the value at the key as well. */
  readonly variable: string | undefined;
  readonly pattern: Pattern | undefined;
}
