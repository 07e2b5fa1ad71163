import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Board, Panel, PanelKind } from './board.ts';

const SOURCE = { type: 'prometheus', uid: '$datasource' };
const PANEL_HEIGHT = 8;
const STAT_HEIGHT = 4;
const BUILDERS = {
  stat: () => new StatBuilder(),
  timeseries: () => new TimeseriesBuilder(),
  'state-timeline': () => new StateTimelineBuilder(),
  table: () => new TableBuilder(),
} satisfies Readonly<Record<PanelKind, () => unknown>>;

/** A board as Grafana imports it. */
export function grafanaBoard({ uid, title, description, variables, rows }: Board): Dashboard {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['addon-operator'])
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .timezone('browser')
    .readonly()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(labelValues('namespace', 'addon_operator_is_leader'));
  for (const { label, metric } of variables)
    board.withVariable(labelValues(label, `${metric}{namespace="$namespace"}`));
  for (const { title: rowTitle, panels } of rows) {
    board.withRow(new RowBuilder(rowTitle));
    for (const panel of panels) board.withPanel(panelBuilder(panel));
  }
  return board.build();
}

function labelValues(label: string, metric: string): QueryVariableBuilder {
  return new QueryVariableBuilder(label)
    .datasource(SOURCE)
    .query(`label_values(${metric}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged);
}

function panelBuilder({ kind, title, description, unit, span, queries, redFrom }: Panel) {
  const panel = BUILDERS[kind]()
    .title(title)
    .description(description)
    .datasource(SOURCE)
    .unit(unit)
    .span(span)
    .height(kind === 'stat' || kind === 'state-timeline' ? STAT_HEIGHT : PANEL_HEIGHT);
  for (const { expr, legend } of queries) {
    const target = new DataqueryBuilder().expr(expr).legendFormat(legend);
    // A table and a stat show the newest value only.
    if (kind === 'table') target.instant().format(PromQueryFormat.Table);
    else if (kind === 'stat') target.instant();
    panel.withTarget(target);
  }
  if (redFrom !== undefined)
    panel.thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
        { value: null, color: 'green' },
        { value: redFrom, color: 'red' },
      ]),
    );
  return panel;
}
