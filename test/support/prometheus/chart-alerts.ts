import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
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

interface ChartObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: RuleGroups;
  readonly data?: Readonly<Record<string, string>>;
}

/** The alerts of the chart. @param flags more values of the chart, as `--set` takes them */
export async function chartAlerts(...flags: readonly string[]): Promise<RuleGroups> {
  const objects = await chartObjects('metrics.alerts.enabled=true', ...flags);
  const rules = objects.find(({ kind }) => kind === 'PrometheusRule')?.spec;
  if (rules === undefined) throw new Error('the chart has no PrometheusRule');
  return rules;
}

/** The boards of the chart by file. @param flags as above */
export async function chartBoards(...flags: readonly string[]): Promise<ReadonlyMap<string, Dashboard>> {
  const objects = await chartObjects('metrics.dashboards.enabled=true', ...flags);
  const files = objects.find(({ metadata }) => metadata.name === 'op-dashboards')?.data;
  if (files === undefined) throw new Error('the chart has no boards');
  return new Map(Object.entries(files).map(([name, text]) => [name, JSON.parse(text) as Dashboard]));
}

async function chartObjects(...flags: readonly string[]): Promise<readonly ChartObject[]> {
  const never = new AbortController().signal;
  const helm = await pinnedHelm(4, { cacheDir: cacheDirectory(process.env, homedir()) }, never);
  const set = ['image.repository=x', ...flags].map((value) => `--set=${value}`);
  const { stdout } = await execa(helm, ['template', 'op', CHART, '--namespace=addons', ...set]);
  const objects = loadAll(stdout) as readonly (ChartObject | null)[];
  return objects.filter((object) => object !== null);
}

export function rulesOf({ groups }: RuleGroups): readonly Rule[] {
  return groups.flatMap(({ rules }) => rules);
}
