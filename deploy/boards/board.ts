/** How a panel shows its queries. */
export type PanelKind = 'stat' | 'timeseries' | 'state-timeline' | 'table';

export interface Query {
  /** PromQL with metrics that begin with `addon_operator_`; `$cluster`, `$namespace`, `$module` and `$__rate_interval` are filled in by Grafana. */
  readonly expr: string;
  /** Name of a series, with labels as `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly kind: PanelKind;
  readonly title: string;
  readonly description: string;
  /** As Grafana names units: `s`, `bytes`, `short`, `percentunit`, `dateTimeFromNow`. */
  readonly unit: string;
  /** Of 24 columns. */
  readonly span: number;
  readonly queries: readonly Query[];
  /** Only of a stat: it is red from here on. */
  readonly redFrom?: number;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Marks a moment in all panels of a board that have a time axis. */
export interface Mark {
  readonly name: string;
  /** PromQL; each series has values while, and only while, something just happened. */
  readonly expr: string;
  /** Text of the mark, with labels as `{{label}}`. */
  readonly title: string;
  readonly color: string;
}

/** A board, without anything that only Grafana knows. */
export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Variables besides the cluster and the namespace of the operator: a label, and the metric whose values of it are offered. */
  readonly variables: readonly { readonly label: string; readonly metric: string }[];
  readonly marks: readonly Mark[];
  readonly rows: readonly Row[];
}

/** Clusters are distinguished only where Prometheus, Thanos or Mimir add the label `cluster`. */
export const SELECTED = 'cluster=~"$cluster", namespace="$namespace"';

/** A query over all replicas of the operator in the chosen namespace. */
export function query(expr: string, legend = ''): Query {
  return { expr, legend };
}

/** Selector of the series of the operator, with more conditions. */
export function of(metric: string, ...conditions: readonly string[]): string {
  return `addon_operator_${metric}{${[SELECTED, ...conditions].join(', ')}}`;
}

/** Starts of the operator, and runs of `helm upgrade`. @param conditions which modules */
export function deployments(...conditions: readonly string[]): readonly Mark[] {
  const version = of('build_info');
  const upgrades = of('helm_operation_seconds_count', 'operation="upgrade"', ...conditions);
  return [
    {
      name: 'Operator started',
      expr: `${version} unless ${version} offset 1m`,
      title: 'Operator {{version}} started',
      color: 'purple',
    },
    {
      name: 'Modules deployed',
      // A counter begins at 1, which is no increase.
      expr: `sum by (module) (increase(${upgrades}[1m]) > 0 or (${upgrades} unless ${upgrades} offset 1m))`,
      title: 'Module {{module}} deployed',
      color: 'blue',
    },
  ];
}
