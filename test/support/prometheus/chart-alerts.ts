import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { loadAll } from 'js-yaml';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../../../src/tools/pinned-tools/pinned-tools.ts';

/** One alert as Prometheus reads it. */
export interface Rule {
  readonly alert: string;
  readonly for?: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const CHART = join(import.meta.dirname, '../../../deploy/addon-operator');

/** The alerts of the chart. @param flags more values of the chart, as `--set` takes them */
export async function chartAlerts(...flags: readonly string[]): Promise<RuleGroups> {
  const never = new AbortController().signal;
  const helm = await pinnedHelm(4, { cacheDir: cacheDirectory(process.env, homedir()) }, never);
  const set = ['image.repository=x', 'metrics.alerts.enabled=true', ...flags].map(
    (value) => `--set=${value}`,
  );
  const { stdout } = await execa(helm, ['template', 'op', CHART, ...set]);
  const objects = loadAll(stdout) as readonly ({ readonly kind: string; readonly spec: RuleGroups } | null)[];
  const rules = objects.find((object) => object?.kind === 'PrometheusRule');
  if (rules === undefined || rules === null) throw new Error('the chart has no PrometheusRule');
  return rules.spec;
}

export function rulesOf({ groups }: RuleGroups): readonly Rule[] {
  return groups.flatMap(({ rules }) => rules);
}
