import { EXCLUSION_RULES } from './exclusions.ts';
import type { Rule, RuleGroup } from './rule.ts';
import { CHART_RULES } from './rules/chart.ts';
import { HOOK_RULES } from './rules/hooks.ts';
import { LAYOUT_RULES } from './rules/layout.ts';
import { DELIVERY_RULES, MANIFEST_RULES } from './rules/manifest.ts';
import { SECURITY_RULES } from './rules/security.ts';
import { VALUES_RULES } from './rules/values.ts';

export const GROUPS: readonly RuleGroup[] = [
  { title: 'Files', rules: LAYOUT_RULES },
  { title: 'module.yaml', rules: MANIFEST_RULES },
  { title: 'Hooks', rules: HOOK_RULES },
  { title: 'Values', rules: VALUES_RULES },
  { title: 'Chart', rules: CHART_RULES },
  { title: 'Security', rules: SECURITY_RULES },
  { title: 'Delivery', rules: DELIVERY_RULES },
  { title: 'Exclusions', rules: EXCLUSION_RULES },
];

/** All rules, in the order of their groups. */
export const RULES: readonly Rule[] = GROUPS.flatMap(({ rules }) => rules);
