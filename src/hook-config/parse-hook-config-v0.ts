/**
 * The old format, without `configVersion`: checks and conversion to the `HookConfig` of v1. Its kubernetes bindings have no
 * Synchronization and always run in queue `main`. The contexts of such hooks keep their old form
 * (`hooks/context-document.ts`).
 */

import { type BindingChecks, given, labelSelectorProblems, problemsOf } from './binding-checks.ts';
import { type HookConfig, type KubernetesBinding, NO_BINDINGS } from './hook-config.ts';
import { lifecycleOrders, type ValidParts } from './hook-config-document.ts';
import type { LabelSelector, WatchEventType } from './kubernetes-binding.ts';

/** The schema of v0 guarantees this shape. */
interface RawConfigV0 {
  readonly [binding: string]: unknown;
  readonly schedule?: readonly RawSchedule[];
  readonly onKubernetesEvent?: readonly RawKubernetesEvent[];
}

interface RawSchedule {
  readonly name?: string;
  readonly crontab: string;
  readonly allowFailure?: boolean;
}

/** An `onKubernetesEvent` item as it is written. */
interface RawKubernetesEvent {
  readonly name?: string;
  readonly event?: readonly ('add' | 'update' | 'delete')[];
  readonly kind: string;
  readonly objectName?: string;
  readonly selector?: LabelSelector;
  readonly namespaceSelector?: { readonly matchNames?: readonly string[]; readonly any?: boolean };
  readonly jqFilter?: string;
  readonly allowFailure?: boolean;
}

/** The old names of events. */
const WATCH_EVENTS: Readonly<Record<'add' | 'update' | 'delete', WatchEventType>> = {
  add: 'Added',
  update: 'Modified',
  delete: 'Deleted',
};

/** Problems that the schema cannot detect, in the parts that it found valid. */
export async function v0Problems(
  valid: ValidParts<RawConfigV0>,
  checks: BindingChecks,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const report = (binding: string, index: number, found: Iterable<string>): void => {
    for (const problem of found) problems.push(`invalid ${binding} config [${index}]: ${problem}`);
  };
  for (const [index, { crontab }] of valid.items('schedule'))
    report('schedule', index, await problemsOf('crontab is invalid', () => checks.crontab(crontab)));
  for (const [index, item] of valid.items('onKubernetesEvent')) {
    report('onKubernetesEvent', index, labelSelectorProblems(item.selector));
    const jqFilter = given(item.jqFilter);
    if (jqFilter !== undefined)
      report(
        'onKubernetesEvent',
        index,
        await problemsOf('jqFilter: compile jqFilter', () => checks.jqFilter(jqFilter)),
      );
  }
  return problems;
}

/** The configuration, for a document without problems. */
export function configFromV0(raw: RawConfigV0): HookConfig {
  const { schedule = [], onKubernetesEvent = [] } = raw;
  return {
    ...NO_BINDINGS,
    version: 'v0',
    lifecycle: lifecycleOrders(raw),
    schedule: schedule.map(({ name, crontab, allowFailure = false }) => ({
      type: 'schedule',
      name: given(name) ?? 'schedule',
      crontab,
      allowFailure,
      queue: 'main',
      snapshotsFrom: [],
    })),
    kubernetes: onKubernetesEvent.map(kubernetesBinding),
  };
}

/** One binding with the names and defaults of v1. */
function kubernetesBinding(item: RawKubernetesEvent, index: number): KubernetesBinding {
  const { kind, selector, namespaceSelector = {}, event = [], allowFailure = false } = item;
  const name = given(item.name) ?? 'onKubernetesEvent';
  const [objectName, jqFilter] = [given(item.objectName), given(item.jqFilter)];
  // `any: true` wins over names.
  const namespaces = namespaceSelector.any === true ? [] : (namespaceSelector.matchNames ?? []);
  return {
    type: 'kubernetes',
    index,
    name,
    allowFailure,
    queue: 'main',
    snapshotsFrom: [],
    // Hooks of this format know no Synchronization: the skipped run lets the events through.
    executeOnSynchronization: false,
    waitForSynchronization: true,
    watch: {
      name,
      kind,
      keepFullObjects: true,
      executeOnEvents: event.map((word) => WATCH_EVENTS[word]),
      ...(jqFilter === undefined ? {} : { jqFilter }),
      ...(selector === undefined ? {} : { labelSelector: selector }),
      ...(objectName === undefined ? {} : { nameSelector: [objectName] }),
      ...(namespaces.length === 0 ? {} : { namespace: { nameSelector: namespaces } }),
    },
  };
}
