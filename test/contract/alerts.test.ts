import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { dump, load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { EVENT_LOOP_DELAY, METRICS } from '../../src/metrics/metric-table.ts';
import { chartAlerts, type RuleGroups, rulesOf } from '../support/prometheus/chart-alerts.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';
import type { AlertSituation, Sample } from './alert-situation.ts';
import { ALERT_SITUATIONS } from './alert-situations.ts';

const RUNBOOKS = join(import.meta.dirname, '../../docs/runbooks.md');
const COMMON = { job: 'op', instance: 'a', namespace: 'addons' };
const HALF_A_DAY = 720;
const programs = await prometheusForTests();

const GRAFANA = 'https://grafana.example.com';
const spec = await chartAlerts(`metrics.dashboards.grafanaUrl=${GRAFANA}/`);
const byName = (a = '', b = ''): number => a.localeCompare(b);

test('each alert has a situation, and each situation an alert', () => {
  const alerts = rulesOf(spec).map(({ alert }) => alert);
  expect(ALERT_SITUATIONS.map(({ alert }) => alert).toSorted(byName)).toEqual(alerts.toSorted(byName));
});

test('each alert links to its section of the runbooks, and each section belongs to an alert', async () => {
  const page = await readFile(RUNBOOKS, 'utf8');
  const sections = [...page.matchAll(/^### (?<alert>AddonOperator\w+)$/gm)].map(
    ({ groups }) => groups?.['alert'],
  );
  const rules = rulesOf(spec);
  expect(sections.toSorted(byName)).toEqual(rules.map(({ alert }) => alert).toSorted(byName));
  expect(rules.filter(({ annotations }) => 'runbook_url' in annotations)).toEqual([]);
  const based = rulesOf(await chartAlerts('metrics.alerts.runbookBase=https://example.com/runbooks'));
  expect(based.map(({ annotations }) => annotations['runbook_url'])).toEqual(
    rules.map(({ alert }) => `https://example.com/runbooks#${alert.toLowerCase()}`),
  );
});

test('the alerts use metrics that the operator exports, with the prefix of the settings', async () => {
  const known = new Set(
    [...Object.values(METRICS), EVENT_LOOP_DELAY].map(({ name }) => `dev_${name.replace('{prefix}', '')}`),
  );
  const rules = rulesOf(await chartAlerts('settings.ADDON_OPERATOR_PROMETHEUS_METRICS_PREFIX=dev_'));
  const used = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/\bdev_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')),
  );
  expect(used.filter((name) => !known.has(name))).toEqual([]);
  expect(rules.filter(({ expr }) => expr.includes('addon_operator_'))).toEqual([]);
});

describe.skipIf(programs === undefined)('with promtool', () => {
  const promtool = programs?.promtool ?? '';

  test('the rules are valid', async () => {
    const file = await written('rules.yaml', spec);
    const { stdout } = await execa(promtool, ['check', 'rules', file]);
    expect(stdout).toContain(`${ALERT_SITUATIONS.length} rules found`);
  });

  // promtool evaluates every rule at every step, and a pause has to last a day.
  test.each([
    { which: 'short', isMember: (minutes: number) => minutes <= HALF_A_DAY, interval: '1m' },
    { which: 'long', isMember: (minutes: number) => minutes > HALF_A_DAY, interval: '1h' },
  ])(
    'each alert fires in its situation, and not in the harmless one ($which)',
    async ({ isMember, interval }) => {
      const rules = await written('rules.yaml', withoutDescriptions(spec));
      const situations = ALERT_SITUATIONS.filter(({ atMinutes }) => isMember(atMinutes));
      const file = await written('tests.yaml', {
        rule_files: [rules],
        evaluation_interval: interval,
        tests: situations.flatMap((situation) => [
          unitTest(situation, situation.fires, [expectedAlert(situation)]),
          unitTest(situation, situation.quiet, []),
        ]),
      });
      const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { all: true, reject: false });
      expect({ exitCode, all }).toMatchObject({ exitCode: 0, all: expect.stringContaining('SUCCESS') });
    },
  );

  test('a situation that does not fire is reported', async () => {
    const [situation] = ALERT_SITUATIONS;
    if (situation === undefined) throw new Error('there are no alerts');
    const rules = await written('rules.yaml', withoutDescriptions(spec));
    const test = unitTest(situation, situation.quiet, [expectedAlert(situation)]);
    const file = await written('tests.yaml', { rule_files: [rules], tests: [test] });
    const { exitCode, all } = await execa(promtool, ['test', 'rules', file], { all: true, reject: false });
    expect({ exitCode, all }).toMatchObject({ exitCode: 1, all: expect.stringContaining(situation.alert) });
  });
});

function unitTest(
  { alert, atMinutes }: AlertSituation,
  samples: readonly Sample[],
  expected: readonly unknown[],
) {
  return {
    interval: '1m',
    external_labels: { cluster: 'eu' },
    input_series: samples.map(({ name, labels, values }) => ({
      series: seriesText(name, labels ?? {}),
      values,
    })),
    alert_rule_test: [{ eval_time: `${atMinutes}m`, alertname: alert, exp_alerts: expected }],
  };
}

function seriesText(name: string, labels: Readonly<Record<string, string>>): string {
  const texts = Object.entries({ ...COMMON, ...labels }).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${texts.join(',')}}`;
}

function expectedAlert({ labels = {}, drops = [], severity, summary }: AlertSituation) {
  const kept = Object.entries(COMMON).filter(([label]) => !drops.some((dropped) => dropped === label));
  // An empty label is as good as none.
  const own = Object.entries(labels).filter(([, value]) => value !== '');
  return {
    exp_labels: Object.fromEntries([...kept, ...own, ['severity', severity]]),
    exp_annotations: { summary, dashboard_url: boardOf(labels['module'] ?? '') },
  };
}

/** The address of a board, without a module that of the operator. */
function boardOf(module: string): string {
  const [board, more] = module === '' ? ['', ''] : ['-module', `&var-module=${module}`];
  return `${GRAFANA}/d/addon-operator${board}?var-namespace=addons${more}&var-cluster=eu`;
}

/** promtool compares all annotations; these are the ones with labels and figures in them that decide. */
function withoutDescriptions({ groups }: RuleGroups): RuleGroups {
  return {
    groups: groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({
        ...rule,
        annotations: {
          summary: rule.annotations['summary'] ?? '',
          dashboard_url: rule.annotations['dashboard_url'] ?? '',
        },
      })),
    })),
  };
}

async function written(name: string, content: unknown): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'alerts-')), name);
  const text = dump(content);
  expect(load(text)).toEqual(JSON.parse(JSON.stringify(content)));
  await writeFile(file, text);
  return file;
}
