import { OperatorError } from '@addon-operator/base/errors';
import { didYouMean } from '@addon-operator/json/similar-word';
import { EXCLUSIONS_FILE, excludes, parseExclusions } from './exclusions.ts';
import type { LintFacts } from './lint-facts.ts';
import type { Found, Profile, Rule, RuleLevel } from './rule.ts';
import { RULES } from './rules.ts';

/** Which rules are checked. */
export interface RuleSelection {
  /** Codes: only these, those of profiles included. Empty: all that are checked without a request. */
  readonly rules: readonly string[];
  /** Checks its rules too. */
  readonly profile?: Profile;
}

/** A broken rule in one place. */
export interface LintFinding extends Found {
  readonly rule: string;
  readonly level: RuleLevel;
}

/** What is wrong with a module. */
export interface ModuleReport {
  /** As messages show it. */
  readonly directory: string;
  readonly findings: readonly LintFinding[];
  /** How many findings were left out because of an exclusion. */
  readonly excluded: number;
}

const CODES = RULES.map(({ code }) => code);

/** @throws OperatorError CONFIG_INVALID when there is no rule with this code */
export function ruleOf(code: string): Rule {
  const rule = RULES.find((each) => each.code === code);
  if (rule !== undefined) return rule;
  throw new OperatorError(
    'CONFIG_INVALID',
    `there is no rule ${code}${didYouMean(code, CODES)}; docs/lint.md lists the rules`,
  );
}

/**
 * Checks a module. Findings come in the order of the rules.
 *
 * @throws OperatorError CONFIG_INVALID when a selected rule does not exist
 */
export function lintModule(module: LintFacts, selection: RuleSelection): ModuleReport {
  const text = module.files.find(({ path }) => path === EXCLUSIONS_FILE)?.text;
  const { list, problems } = parseExclusions(text, CODES);
  const rules = selectedRules(selection);
  const found = rules.flatMap((rule) =>
    [
      ...module.parsed.problems.filter((problem) => problem.rule === rule.code),
      ...(rule.check?.(module) ?? []),
    ].map((each) => findingOf(rule, each)),
  );
  const kept = found.filter((finding) => !list.some((exclusion) => excludes(exclusion, finding)));
  const unused = list.filter(
    (exclusion) =>
      rules.some(({ code }) => code === exclusion.rule) && !found.some((each) => excludes(exclusion, each)),
  );
  const ofFile = (code: string, messages: readonly string[]): readonly LintFinding[] =>
    rules
      .filter((rule) => rule.code === code)
      .flatMap((rule) => messages.map((message) => findingOf(rule, { path: EXCLUSIONS_FILE, message })));
  return {
    directory: module.directory,
    findings: [
      ...kept,
      ...ofFile('exclusion-invalid', problems),
      ...ofFile(
        'exclusion-unused',
        unused.map(
          ({ rule, path, object }) =>
            `${[rule, path, object].filter(Boolean).join(' ')}: nothing is excluded by it`,
        ),
      ),
    ],
    excluded: found.length - kept.length,
  };
}

function selectedRules({ rules, profile }: RuleSelection): readonly Rule[] {
  if (rules.length > 0) return rules.map(ruleOf);
  return RULES.filter(({ onlyWith }) => onlyWith === undefined || onlyWith === profile);
}

function findingOf({ code, level }: Rule, found: Found): LintFinding {
  return { rule: code, level, ...found };
}

/** How many findings there are of each level. */
export function countFindings(reports: readonly ModuleReport[]): Readonly<Record<RuleLevel, number>> {
  const levels = reports.flatMap(({ findings }) => findings.map(({ level }) => level));
  const errors = levels.filter((level) => level === 'error').length;
  return { error: errors, warning: levels.length - errors };
}
