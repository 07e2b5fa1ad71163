import { messageOf } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import { refuseUnknown } from '@addon-operator/json/unknown-keys';
import { parseYaml } from '@addon-operator/yaml';
import type { Found, Rule } from './rule.ts';

/** The file with the exclusions, in the directory of the module. */
export const EXCLUSIONS_FILE = '.module-lint.yaml';
const KEYS = ['rule', 'path', 'object', 'reason'];

/** Findings that are not reported. */
export interface Exclusion {
  readonly rule: string;
  /** A file, or with `/` at the end all files below a directory; absent: all files. */
  readonly path?: string;
  /** A rendered object, as findings name it; absent: all objects. */
  readonly object?: string;
}

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
    explanation: 'What was excluded is mended, or was misspelt. Remove the exclusion.',
  },
];

/** Reads `.module-lint.yaml`. What can be used of it counts, all else is a problem. */
export function parseExclusions(text: string | undefined, codes: readonly string[]): Exclusions {
  if (text === undefined) return { list: [], problems: [] };
  const problems: string[] = [];
  let content: unknown;
  try {
    content = parseYaml(text, { source: EXCLUSIONS_FILE, booleans: 'yaml-1.2' }).value;
  } catch (error) {
    return { list: [], problems: [messageOf(error)] };
  }
  if (!isObject(content)) return { list: [], problems: ['expected a mapping with the key exclude'] };
  refuseUnknown(content, ['exclude'], '', problems);
  const { exclude = [] } = content;
  if (!Array.isArray(exclude)) return { list: [], problems: [...problems, 'exclude: expected a list'] };
  const list = exclude.flatMap((item: unknown, index) =>
    readExclusion(item, `exclude[${index}]`, codes, problems),
  );
  return { list, problems };
}

function readExclusion(
  item: unknown,
  at: string,
  codes: readonly string[],
  problems: string[],
): readonly Exclusion[] {
  if (!isObject(item)) {
    problems.push(`${at}: expected a mapping with rule and reason`);
    return [];
  }
  refuseUnknown(item, KEYS, at, problems);
  const { rule, path, object, reason } = item;
  for (const [key, value] of Object.entries({ path, object }))
    if (value !== undefined && typeof value !== 'string') problems.push(`${at}.${key}: expected a text`);
  if (typeof reason !== 'string' || reason.trim() === '')
    problems.push(`${at}.reason: say why the finding is right as it is`);
  if (typeof rule !== 'string' || !codes.includes(rule)) {
    problems.push(`${at}.rule: there is no rule ${String(rule)}${didYouMean(String(rule), codes)}`);
    return [];
  }
  return [
    {
      rule,
      ...(typeof path === 'string' ? { path } : {}),
      ...(typeof object === 'string' ? { object } : {}),
    },
  ];
}

/** Whether an exclusion is about a finding. */
export function excludes(
  { rule, path, object }: Exclusion,
  found: Pick<Found, 'path' | 'object'> & { readonly rule: string },
): boolean {
  if (rule !== found.rule || (object !== undefined && object !== found.object)) return false;
  return path === undefined || (path.endsWith('/') ? found.path.startsWith(path) : found.path === path);
}
