import { EXCLUSION_RULES } from './exclusions.ts';
import type { Rule } from './rule.ts';
import { CHART_RULES } from './rules/chart.ts';
import { DELIVERY_RULES } from './rules/delivery.ts';
import { HOOK_RULES } from './rules/hooks.ts';
import { LAYOUT_RULES } from './rules/layout.ts';
import { MANIFEST_RULES } from './rules/manifest.ts';
import { SECURITY_RULES } from './rules/security.ts';
import { VALUES_RULES } from './rules/values.ts';

/** All rules, in the order of their groups. */
export const RULES: readonly Rule[] = [
  ...LAYOUT_RULES,
  ...MANIFEST_RULES,
  ...HOOK_RULES,
  ...VALUES_RULES,
  ...CHART_RULES,
  ...SECURITY_RULES,
  ...DELIVERY_RULES,
  ...EXCLUSION_RULES,
];
