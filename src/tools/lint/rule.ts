import type { LintFacts } from './lint-facts.ts';

export type RuleLevel = 'error' | 'warning';

/** Sets of rules that not every module keeps. */
export const PROFILES = ['restricted', 'delivery'] as const;
export type Profile = (typeof PROFILES)[number];

/** How `--fix` fixes a finding. */
export type Fix = { readonly type: 'make-executable' } | { readonly type: 'unix-text' };

/** One place where a rule is broken. */
export interface Found {
  /** Relative to the module; empty for the module itself. */
  readonly path: string;
  readonly message: string;
  /** The rendered object it is about, such as `apps/v1/shop/Deployment/web`. */
  readonly object?: string;
  /** Fixes the file at `path`. */
  readonly fix?: Fix;
}

/** Finds where a module breaks a rule. */
export type Check = (module: LintFacts) => Iterable<Found>;

/** On which request a rule is checked, such as `, with --rule CODE`; empty for one that is always checked. */
export function onlyWithText({ onlyWith, code }: Rule, quote = ''): string {
  if (onlyWith === undefined) return '';
  const option = onlyWith === 'code' ? `--rule ${code}` : `--profile ${onlyWith}`;
  return `, with ${quote}${option}${quote}`;
}

export interface Rule {
  readonly code: string;
  readonly level: RuleLevel;
  /** Checked only on request: with a profile, or by its code. Default: always checked. */
  readonly onlyWith?: Profile | 'code';
  /** What the rule demands, as one sentence. */
  readonly summary: string;
  /** Why, and what to do. */
  readonly explanation: string;
  /** Absent: only the parsers of the operator find it, and report it by the code of the rule. */
  readonly check?: Check;
}

/** Rules with a heading of their own on the page. */
export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly Rule[];
}
