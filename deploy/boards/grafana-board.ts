import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  type DashboardLink,
  DashboardLinkType,
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
import { type Board, type Mark, type Panel, type PanelKind, SELECTED } from './board.ts';

const SOURCE = { type: 'prometheus', uid: '$datasource' };
const TAG = 'addon-operator';
/** Its builder would put it into a menu. */
const BOARDS: DashboardLink = {
  title: 'Boards',
  type: DashboardLinkType.Dashboards,
  icon: '',
  tooltip: '',
  tags: [TAG],
  asDropdown: false,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
};
const PANEL_HEIGHT = 8;
const STAT_HEIGHT = 4;
const BUILDERS = {
  stat: () => new StatBuilder(),
  timeseries: () => new TimeseriesBuilder(),
  'state-timeline': () => new StateTimelineBuilder(),
  table: () => new TableBuilder(),
} satisfies Readonly<Record<PanelKind, () => unknown>>;

/** A board as Grafana imports it. The chart adds links to what has an address there: the page and the runbooks. */
export function grafanaBoard({ uid, title, description, variables, marks, rows }: Board): Dashboard {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .timezone('browser')
    .readonly()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(clusters())
    .withVariable(labelValues('namespace', 'addon_operator_is_leader{cluster=~"$cluster"}'))
    .link({ build: () => BOARDS });
  for (const mark of marks) board.annotation(annotation(mark));
  for (const { label, metric } of variables) board.withVariable(labelValues(label, `${metric}{${SELECTED}}`));
  for (const { title: rowTitle, panels } of rows) {
    board.withRow(new RowBuilder(rowTitle));
    for (const panel of panels) board.withPanel(panelBuilder(panel));
  }
  return board.build();
}

/** Offers all clusters, which also fits series without this label. */
function clusters(): QueryVariableBuilder {
  return labelValues('cluster', 'addon_operator_is_leader')
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}

function annotation({ name, expr, title, color }: Mark): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .step('60s')
    .titleFormat(title);
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
