import { messageOf } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import { fields, listOf, problemAt, type Shaped, text, textLike } from '@addon-operator/json/shape';
import { didYouMean } from '@addon-operator/json/similar-word';
import { parseYaml } from '@addon-operator/yaml';
import type { Found, Rule } from './rule.ts';

/** The file with the exclusions, in the directory of the module. */
export const EXCLUSIONS_FILE = '.module-lint.yaml';

const exclusion = fields(
  {
    rule: text('Code of a rule'),
    path: text('A file, or with / at the end all files below a directory; absent: all files'),
    object: text('A rendered object, as findings name it; absent: all objects'),
    reason: textLike('Why the finding is right as it is', {
      pattern: /\S/,
      name: 'the reason why the finding is right as it is',
    }),
  },
  { required: ['rule', 'reason'] },
);
const EXCLUSIONS = fields({ exclude: listOf(exclusion, 'Findings that are not reported') });

/** Findings that are not reported. */
export type Exclusion = Pick<Shaped<typeof exclusion>, 'rule' | 'path' | 'object'>;

export interface Exclusions {
  readonly list: readonly Exclusion[];
  /** What cannot be used in the file. */
  readonly problems: readonly string[];
}

/** Rules about the exclusions; they are checked by what applies the exclusions. */
export const EXCLUSION_RULES: readonly Rule[] = [
  {
    code: 'exclusion-invalid',
    level: 'error',
    summary: 'An exclusion names a rule that exists, and has a reason.',
    explanation: `\`${EXCLUSIONS_FILE}\` has a list \`exclude\` of mappings with \`rule\`, \`reason\` and, if it is not about the whole module, \`path\` or \`object\`. An exclusion without a reason cannot be reviewed later.`,
  },
  {
    code: 'exclusion-unused',
    level: 'warning',
    summary: 'An exclusion applies to a finding.',
    explanation: 'What was excluded is fixed, or its name is misspelt. Remove the exclusion.',
  },
];

/** Reads `.module-lint.yaml`. What can be used of it counts, all else is a problem. */
export function parseExclusions(content: string | undefined, codes: readonly string[]): Exclusions {
  if (content === undefined) return { list: [], problems: [] };
  let value: unknown;
  try {
    value = parseYaml(content, { source: EXCLUSIONS_FILE, booleans: 'yaml-1.2' }).value;
  } catch (error) {
    return { list: [], problems: [messageOf(error)] };
  }
  const problems: string[] = [];
  EXCLUSIONS.check(value, [], (path, message) => problems.push(problemAt(path, message)));
  const { exclude } = fieldsOf(value);
  const list = (Array.isArray(exclude) ? exclude : []).flatMap((item: unknown, index) => {
    const { rule, path, object } = fieldsOf(item);
    if (typeof rule !== 'string') return [];
    if (codes.includes(rule))
      return [
        {
          rule,
          ...(typeof path === 'string' && { path }),
          ...(typeof object === 'string' && { object }),
        },
      ];
    problems.push(`exclude[${index}].rule: there is no rule ${rule}${didYouMean(rule, codes)}`);
    return [];
  });
  return { list, problems };
}

/** Whether an exclusion is about a finding. */
export function excludes(
  { rule, path, object }: Exclusion,
  found: Pick<Found, 'path' | 'object'> & { readonly rule: string },
): boolean {
  if (rule !== found.rule || (object !== undefined && object !== found.object)) return false;
  return path === undefined || (path.endsWith('/') ? found.path.startsWith(path) : found.path === path);
}
