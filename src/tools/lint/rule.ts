import type { LintFacts } from './lint-facts.ts';

export type RuleLevel = 'error' | 'warning';

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

export const GROUPS = [
  'layout',
  'module.yaml',
  'hooks',
  'values',
  'chart',
  'security',
  'delivery',
  'exclusions',
] as const;

export interface Rule {
  readonly code: string;
  readonly group: (typeof GROUPS)[number];
  readonly level: RuleLevel;
  /** Checked only on request: with `--profile restricted`, or by its code. Default: always checked. */
  readonly onlyWith?: 'profile' | 'code';
  /** What the rule demands, as one sentence. */
  readonly summary: string;
  /** Why, and what to do. */
  readonly explanation: string;
  readonly check: (module: LintFacts) => Iterable<Found>;
}

/** The check of a rule that the parsers of the operator make. */
export function fromParser(code: string): Rule['check'] {
  return ({ parsed }) => parsed.problems.filter(({ rule }) => rule === code);
}
