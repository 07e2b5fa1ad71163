/** How a panel shows its queries. */
export type PanelKind = 'stat' | 'timeseries' | 'state-timeline' | 'table';

export interface Query {
  /** PromQL with metrics that begin with `addon_operator_`; `$namespace`, `$module` and `$__rate_interval` are filled in by Grafana. */
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

/** A board, without anything that only Grafana knows. */
export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Variables besides the namespace of the operator: a label, and the metric whose values of it are offered. */
  readonly variables: readonly { readonly label: string; readonly metric: string }[];
  readonly rows: readonly Row[];
}

/** A query over all replicas of the operator in the chosen namespace. */
export function query(expr: string, legend = ''): Query {
  return { expr, legend };
}

/** Selector of the series of the operator, with more conditions. */
export function of(metric: string, ...conditions: readonly string[]): string {
  return `addon_operator_${metric}{${['namespace="$namespace"', ...conditions].join(', ')}}`;
}
