import { messageOf } from '@addon-operator/base/errors';
import { parseCrontab } from '@addon-operator/crontab';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import satisfies from 'semver/functions/satisfies.js';
import type { LintFacts, SiblingFacts } from '../lint-facts.ts';
import { type Found, fromParser, type Rule } from '../rule.ts';

const FILE = 'module.yaml';

/** Rules about `module.yaml`. */
export const MANIFEST_RULES: readonly Rule[] = [
  {
    code: 'manifest-invalid',
    group: 'module.yaml',
    level: 'error',
    summary: 'module.yaml has only values that the operator can use.',
    explanation:
      'The operator does not run a module with a version that is not semantic, or a requirement that cannot be read. The message names each of them.',
    check: fromParser('manifest-invalid'),
  },
  {
    code: 'manifest-ignored',
    group: 'module.yaml',
    level: 'warning',
    summary: 'module.yaml has no keys and values that are ignored.',
    explanation:
      'An unknown key may be misspelt, and then has no effect. Keys that other programs read are a reason to exclude the finding; those of Deckhouse are known.',
    check: ({ parsed: { ignored = [] } }) => ignored.map((message) => ({ path: FILE, message })),
  },
  {
    code: 'reconcile-every',
    group: 'module.yaml',
    level: 'error',
    summary: 'reconcileEvery is a duration, or a crontab with a next time.',
    explanation: 'A crontab that cannot be read, or that never fires, never applies the module again.',
    check: function* ({ parsed: { reconcileEvery } }) {
      if (reconcileEvery === undefined || parseGoDuration(reconcileEvery) !== undefined) return;
      const problem = crontabProblem(reconcileEvery);
      if (problem !== undefined) yield { path: FILE, message: `reconcileEvery: ${problem}` };
    },
  },
  {
    code: 'requires-unknown',
    group: 'module.yaml',
    level: 'warning',
    summary: 'A required module is in the same modules directory.',
    explanation:
      'A module that requires one that does not exist is never enabled. If the other module comes from another directory, exclude the finding with that reason. Requirements with `optional: true` may be missing.',
    check: ({ parsed }) =>
      parsed.requires
        .filter(({ name, isOptional }) => !isOptional && siblingOf(parsed.siblings, name) === undefined)
        .map(({ name }) => ({
          path: FILE,
          message: `requires module ${name}, which is not in this modules directory`,
        })),
  },
  {
    code: 'requires-cycle',
    group: 'module.yaml',
    level: 'error',
    summary: 'Modules do not require one another in a cycle.',
    explanation: 'No order would be right, so the operator does not start. Remove one of the entries.',
    check: cycles,
  },
  {
    code: 'range-never-matches',
    group: 'module.yaml',
    level: 'warning',
    summary: 'The required version is the version of the other module.',
    explanation:
      'A module whose requirement is not met is not enabled. Change the range, or the version in the other `module.yaml` or `Chart.yaml`.',
    check: function* ({ parsed }) {
      for (const { name, version: range } of parsed.requires) {
        const other = siblingOf(parsed.siblings, name);
        if (range === undefined || other === undefined) continue;
        if (other.version !== undefined && satisfies(other.version, range, { includePrerelease: true }))
          continue;
        yield {
          path: FILE,
          message: `requires module ${name} in version ${range}, but it has ${other.version === undefined ? 'no version' : `version ${other.version}`}`,
        };
      }
    },
  },
];

/** Why a crontab cannot be used; undefined for one that fires. */
export function crontabProblem(crontab: string): string | undefined {
  try {
    // Whether there is a next time does not depend on the zone.
    if (parseCrontab(crontab, 'UTC').next(Date.UTC(2026, 0, 1)) !== undefined) return undefined;
    return `${crontab} never fires: no year has that day`;
  } catch (error) {
    return messageOf(error);
  }
}

function siblingOf(siblings: readonly SiblingFacts[], name: string): SiblingFacts | undefined {
  return siblings.find((sibling) => sibling.name === name);
}

function* cycles({ parsed: { name, siblings } }: LintFacts): Iterable<Found> {
  if (name === undefined) return;
  const path = cycleFrom(name, siblings, []);
  if (path !== undefined)
    yield { path: FILE, message: `modules require each other in a cycle: ${path.join(' -> ')}` };
}

/** The way from the first module back to it; undefined when there is none. */
function cycleFrom(
  name: string,
  siblings: readonly SiblingFacts[],
  way: readonly string[],
): readonly string[] | undefined {
  if (way.includes(name)) return name === way[0] ? [...way, name] : undefined;
  for (const { name: next } of siblingOf(siblings, name)?.requires ?? []) {
    const found = cycleFrom(next, siblings, [...way, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
