/** A series as promtool expands it: `0+1x20` is 0, 1, 2 … 20, one value a minute. */
export interface Sample {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly values: string;
}

/** When an alert fires and when it must not. */
export interface AlertSituation {
  readonly alert: string;
  readonly fires: readonly Sample[];
  /** Like `fires`, but for what makes it harmless. */
  readonly quiet: readonly Sample[];
  /** Minutes after the beginning, when both are looked at. */
  readonly atMinutes: number;
  /** Labels of the alert besides those of every series here, its name and its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels of every series that the alert has no longer. */
  readonly drops?: readonly ('job' | 'instance' | 'namespace')[];
  readonly severity: 'info' | 'warning' | 'critical';
  readonly summary: string;
}

/** One sample; names without the prefix `addon_operator_`, unless they begin with `process_`. */
export function of(name: string, values: string, labels: Readonly<Record<string, string>> = {}): Sample {
  return { name: name.startsWith('process_') ? name : `addon_operator_${name}`, labels, values };
}
