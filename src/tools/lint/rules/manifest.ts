import { messageOf } from '@addon-operator/base/errors';
import { parseCrontab } from '@addon-operator/crontab';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { type UnmetRequirement, unmetOf } from '../../../modules/requirements.ts';
import { inRunOrder } from '../../../modules/run-order.ts';
import { type FileFacts, textAt } from '../lint-facts.ts';
import type { Check, Rule } from '../rule.ts';

const FILE = 'module.yaml';

/** Rules about `module.yaml`. */
export const MANIFEST_RULES: readonly Rule[] = [
  {
    code: 'manifest-invalid',
    level: 'error',
    summary: 'module.yaml has only values that the operator can use.',
    explanation:
      'The operator does not run a module with a version that is not semantic, or a requirement that cannot be read. The message names each of them.',
  },
  {
    code: 'manifest-ignored',
    level: 'warning',
    summary: 'module.yaml has no keys and values that are ignored.',
    explanation:
      'An unknown key may be misspelt, and then has no effect. Keys that other programs read are a reason to exclude the finding; those of Deckhouse are known.',
    check: ({ parsed: { module } }) =>
      (module?.manifest.remarks ?? []).map((message) => ({ path: FILE, message })),
  },
  {
    code: 'reconcile-every',
    level: 'error',
    summary: 'reconcileEvery is a duration, or a crontab with a next time.',
    explanation: 'A crontab that cannot be read, or that never fires, never applies the module again.',
    check: function* ({ parsed: { module } }) {
      const reconcileEvery = module?.manifest.reconcileEvery;
      if (reconcileEvery === undefined || parseGoDuration(reconcileEvery) !== undefined) return;
      const problem = crontabProblem(reconcileEvery);
      if (problem !== undefined) yield { path: FILE, message: `reconcileEvery: ${problem}` };
    },
  },
  {
    code: 'requires-unknown',
    level: 'warning',
    summary: 'A required module is in the same modules directory.',
    explanation:
      'A module that requires one that does not exist is never enabled. If the other module comes from another directory, exclude the finding with that reason. Requirements with `optional: true` may be missing.',
    check: unmet(['absent']),
  },
  {
    code: 'requires-cycle',
    level: 'error',
    summary: 'Modules do not require one another in a cycle.',
    explanation: 'No order would be right, so the operator does not start. Remove one of the entries.',
    check: function* ({ parsed: { module, siblings } }) {
      const refusal = inRunOrder(siblings).find(({ name }) => name === module?.name)?.refusal;
      // Modules that require one of a cycle are refused as well: the others have the finding.
      if (refusal?.type === 'cycle' && refusal.reason.includes(` ${module?.name} -> `))
        yield { path: FILE, message: refusal.reason };
    },
  },
  {
    code: 'range-never-matches',
    level: 'warning',
    summary: 'The required version is the version of the other module.',
    explanation:
      'A module whose requirement is not met is not enabled. Change the range, or the version in the other `module.yaml` or `Chart.yaml`.',
    check: unmet(['version', 'version-unknown']),
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

/** Requirements that would keep the operator from enabling the module if all other modules were enabled. */
function unmet(types: readonly UnmetRequirement['type'][]): Check {
  return function* ({ parsed: { module, siblings } }) {
    const modules = new Map(siblings.map((sibling) => [sibling.name, sibling]));
    const facts = { modules, enabled: { has: () => true } };
    for (const { name } of module?.manifest.requires ?? []) {
      const problem = module && unmetOf(module, name, facts);
      if (problem === undefined || !types.includes(problem.type)) continue;
      // What the operator says of all modules is known of one directory here.
      const absent = `requires module ${name}, which is not in this modules directory`;
      yield { path: FILE, message: problem.type === 'absent' ? absent : problem.text };
    }
  };
}

/** As written, semantic or not. */
function chartVersion(files: readonly FileFacts[]): string | undefined {
  return /^version:\s*["']?([^\s"'#]+)/m.exec(textAt(files, 'Chart.yaml'))?.[1];
}

/** Rules about versions of modules, and about their way to a registry. */
export const DELIVERY_RULES: readonly Rule[] = [
  {
    code: 'version-missing',
    level: 'warning',
    onlyWith: 'delivery',
    summary: 'module.yaml or Chart.yaml has a semantic version.',
    explanation:
      '`module push` names the artifact by the version, and refuses a module without one unless it gets `--version`. Write `version: "1.2.3"` into `module.yaml`.',
    check: function* ({ files, parsed: { module } }) {
      if (module === undefined || module.version !== undefined) return;
      const chart = chartVersion(files);
      if (chart === undefined) yield { path: '', message: 'has no version' };
      else
        yield { path: 'Chart.yaml', message: `has version ${chart}, which is not semantic, such as 1.2.3` };
    },
  },
  {
    code: 'not-packable',
    level: 'error',
    onlyWith: 'delivery',
    summary: '`module push` accepts the files of the module.',
    explanation:
      'The module is packed as for a push, and unpacked as by the operator that installs it. Names that differ only in case, links that lead out or to nothing, a signature of other files, and what is above the [limits](delivery.md#limits) are refused. Of several problems the message has the first.',
  },
  {
    code: 'version-mismatch',
    level: 'warning',
    summary: 'module.yaml, Chart.yaml and CHANGELOG.md name one version.',
    explanation:
      'Other modules require the version of `module.yaml`, or of `Chart.yaml` without one. People read the newest version of `CHANGELOG.md`. Change the one that is behind.',
    check: function* ({ files, parsed: { module } }) {
      const version = module?.version;
      if (version === undefined) return;
      const chart = chartVersion(files);
      if (chart !== undefined && chart !== version)
        yield { path: 'Chart.yaml', message: `has version ${chart}, module.yaml has ${version}` };
      const newest = /^#+ \[?v?(\d[^\s\]]*)/m.exec(textAt(files, 'CHANGELOG.md'))?.[1];
      if (newest?.includes('.') === true && newest !== version)
        yield { path: 'CHANGELOG.md', message: `begins with version ${newest}, the module has ${version}` };
    },
  },
];
