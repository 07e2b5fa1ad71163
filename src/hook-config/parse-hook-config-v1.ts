/**
 * Format v1: the checks beyond the schema (`v1Problems`) and the conversion to `HookConfig` (`configFromV1`). The
 * conversion runs only after schema and checks found nothing, so it does not validate again, and fills all defaults.
 */

import { admissionBinding, admissionProblems, type RawAdmission } from './admission-binding.ts';
import {
  API_VERSION,
  type BindingChecks,
  durationMs,
  given,
  labelSelectorProblems,
  problemsOf,
  type SnapshotUser,
  snapshotName,
  snapshotPositions,
  snapshotProblems,
} from './binding-checks.ts';
import { BINDING_KINDS } from './binding-kinds.ts';
import { conversionBinding, conversionProblems, type RawConversion } from './conversion-binding.ts';
import type {
  Debounce,
  HookConfig,
  HookSettings,
  KeyedQueue,
  KubernetesBinding,
  OutcomeCodes,
  RetryLimits,
  ScheduleBinding,
} from './hook-config.ts';
import { lifecycleOrders, type ValidParts } from './hook-config-document.ts';
import { parseKeyPath } from './key-path.ts';
import type { FieldRequirement, LabelSelector, WatchEventType } from './kubernetes-binding.ts';

/** The schema of v1 guarantees this shape. */
interface RawConfigV1 {
  readonly [binding: string]: unknown;
  readonly schedule?: readonly RawSchedule[];
  readonly kubernetes?: readonly RawKubernetes[];
  readonly kubernetesValidating?: readonly RawAdmission[];
  readonly kubernetesMutating?: readonly RawAdmission[];
  readonly kubernetesCustomResourceConversion?: readonly RawConversion[];
  readonly settings?: RawSettings;
}

/** `settings` as it is written; durations are Go durations. */
interface RawSettings {
  readonly executionMinInterval?: string;
  readonly executionBurst?: number;
  readonly timeout?: string;
  readonly restartOnChange?: boolean;
  readonly exitCodes?: Partial<OutcomeCodes>;
  readonly statusCodes?: Partial<OutcomeCodes>;
  readonly retry?: {
    readonly max?: number;
    readonly within?: string;
    readonly onExhausted?: RetryLimits['onExhausted'];
  };
}

/** Fields of bindings with a queue, as they are written. */
interface RawQueued extends SnapshotUser {
  readonly name?: string;
  readonly allowFailure?: boolean;
  readonly queue?: string | RawKeyedQueue;
}

/** The mapping form of `queue`. */
interface RawKeyedQueue {
  readonly name: string;
  readonly key?: string;
  readonly parallel?: number;
}

interface RawSchedule extends RawQueued {
  readonly crontab: string;
}

/** A `kubernetes` item as it is written. */
interface RawKubernetes extends RawQueued {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly watchEvent?: readonly WatchEventType[];
  readonly executeHookOnEvent?: readonly WatchEventType[];
  readonly executeHookOnSynchronization?: boolean;
  readonly waitForSynchronization?: boolean;
  readonly keepFullObjectsInMemory?: boolean;
  readonly jqFilter?: string;
  readonly debounce?: { readonly after: string; readonly max?: string };
  readonly coalesce?: 'none' | 'object';
  readonly nameSelector?: { readonly matchNames: readonly string[] };
  readonly labelSelector?: LabelSelector;
  readonly fieldSelector?: { readonly matchExpressions: readonly FieldRequirement[] };
  readonly namespace?: {
    readonly nameSelector?: { readonly matchNames: readonly string[] };
    readonly labelSelector?: LabelSelector;
  };
}

/** The order matters: validating bindings come first in `HookConfig.admission`. */
const { sections: ADMISSION_SECTIONS } = BINDING_KINDS.admission;
const DEFAULT_PARALLEL = 4;
/** Without a maximum, events that never stop would keep the hook from running. */
const DEBOUNCE_MAX_FACTOR = 10;
/** The default of `executeHookOnEvent`. */
const ALL_EVENTS: readonly WatchEventType[] = ['Added', 'Modified', 'Deleted'];

/** Problems that the schema cannot detect, in the parts that it found valid. */
export async function v1Problems(
  valid: ValidParts<RawConfigV1>,
  checks: BindingChecks,
): Promise<readonly string[]> {
  const { snapshotSources } = valid;
  const problems: string[] = [];
  const report = (binding: string, index: number, found: Iterable<string>): void => {
    for (const problem of found) problems.push(`invalid ${binding} config [${index}]: ${problem}`);
  };
  for (const [index, item] of valid.items('schedule')) {
    report('schedule', index, snapshotProblems(item, snapshotSources));
    report('schedule', index, await queueProblems(item, true));
    report('schedule', index, await problemsOf('crontab is invalid', () => checks.crontab(item.crontab)));
  }
  for (const [index, item] of valid.items('kubernetes')) {
    report('kubernetes', index, snapshotProblems(item, snapshotSources));
    report('kubernetes', index, kubernetesProblems(item));
    report('kubernetes', index, await debounceProblems(item));
    report('kubernetes', index, await queueProblems(item, item.keepFullObjectsInMemory ?? true));
    const jqFilter = given(item.jqFilter);
    if (jqFilter !== undefined)
      report(
        'kubernetes',
        index,
        await problemsOf('jqFilter: compile jqFilter', () => checks.jqFilter(jqFilter)),
      );
  }
  for (const type of ADMISSION_SECTIONS) {
    const items = valid.items(type);
    const names = items.map(([, { name }]) => name);
    for (const [position, [index, item]] of items.entries())
      report(
        type,
        index,
        // Of two items with the same name the second one is reported.
        admissionProblems(type, item, { index, others: names.slice(0, position) }, snapshotSources),
      );
  }
  for (const [index, item] of valid.items('kubernetesCustomResourceConversion'))
    report('kubernetesCustomResourceConversion', index, conversionProblems(item, snapshotSources));
  for (const key of ['executionMinInterval', 'timeout'] as const) {
    const text = valid.property('settings')?.[key];
    if (text !== undefined)
      problems.push(...(await problemsOf(`settings.${key} is invalid`, () => durationMs(text))));
  }
  const { retry, exitCodes, statusCodes } = valid.property('settings') ?? {};
  const within = retry?.within;
  if (within !== undefined)
    problems.push(...(await problemsOf('settings.retry.within is invalid', () => positiveMs(within))));
  problems.push(...ambiguousCodes('exitCodes', exitCodes), ...ambiguousCodes('statusCodes', statusCodes));
  return problems;
}

/** A code cannot mean both "retry later" and "do not retry". */
function ambiguousCodes(
  key: string,
  { temporary = [], permanent = [] }: Partial<OutcomeCodes> = {},
): readonly string[] {
  return temporary
    .filter((code) => permanent.includes(code))
    .map((code) => `settings.${key}: ${code} is both temporary and permanent`);
}

/** @throws Error when the text is no duration, or nothing is left of it */
function positiveMs(text: string): number {
  const ms = durationMs(text);
  if (ms <= 0) throw new Error(`'${text}' is not longer than nothing`);
  return ms;
}

/** The configuration, for a document without problems. */
export function configFromV1(raw: RawConfigV1): HookConfig {
  const { schedule = [], kubernetes = [], kubernetesCustomResourceConversion = [], settings = {} } = raw;
  return {
    version: 'v1',
    lifecycle: lifecycleOrders(raw),
    schedule: schedule.map((item) => ({
      type: 'schedule',
      ...queuedPart(item, kubernetes, 'schedule'),
      crontab: item.crontab,
    })) satisfies readonly ScheduleBinding[],
    kubernetes: kubernetes.map((item, index) => kubernetesBinding(item, index, kubernetes)),
    admission: ADMISSION_SECTIONS.flatMap((type) =>
      (raw[type] ?? []).map((item) => admissionBinding(type, item, kubernetes)),
    ),
    conversion: kubernetesCustomResourceConversion.map((item) => conversionBinding(item, kubernetes)),
    settings: hookSettings(settings),
  };
}

/** Checks of one `kubernetes` item, without those that need its queue or its durations. */
function* kubernetesProblems(item: RawKubernetes): Iterable<string> {
  if (item.apiVersion !== undefined && item.apiVersion !== '' && !API_VERSION.test(item.apiVersion))
    yield `apiVersion is invalid: '${item.apiVersion}', expected 'version' or 'group/version'`;
  const fields = item.fieldSelector?.matchExpressions ?? [];
  if (
    (item.nameSelector?.matchNames ?? []).length > 0 &&
    fields.some(({ field }) => field === 'metadata.name')
  )
    yield "fieldSelector 'metadata.name' and nameSelector are mutually exclusive";
  yield* labelSelectorProblems(item.labelSelector);
  yield* labelSelectorProblems(item.namespace?.labelSelector);
}

/** The name of the queue, in both forms that `queue` may have; undefined for the default. */
function queueName({ queue }: RawQueued): string | undefined {
  return typeof queue === 'object' ? queue.name : given(queue);
}

/** The keys of a queue in mapping form; the path was checked by `queueProblems`. */
function keyedQueue({ key = 'object', parallel = DEFAULT_PARALLEL }: RawKeyedQueue): KeyedQueue {
  if (key === 'object' || key === 'namespace') return { key: { type: key }, parallel };
  return { key: { type: 'path', steps: parseKeyPath(key) }, parallel };
}

/** @param keepsObjects whether events of the binding contain the object, which a key path needs */
async function queueProblems({ queue }: RawQueued, keepsObjects: boolean): Promise<readonly string[]> {
  if (typeof queue !== 'object') return [];
  const { name, key = 'object' } = queue;
  if (name === 'main') return ["queue.name is invalid: 'main' has no keys, since modules run there"];
  if (key === 'object' || key === 'namespace') return [];
  const problems = await problemsOf('queue.key is invalid', () => parseKeyPath(key));
  if (problems.length > 0 || keepsObjects) return problems;
  return [
    `queue.key is invalid: '${key}' needs the object, which keepFullObjectsInMemory: false does not keep`,
  ];
}

/** Both durations must be positive, and the maximum not shorter than the wait. */
async function debounceProblems({ debounce }: RawKubernetes): Promise<readonly string[]> {
  if (debounce === undefined) return [];
  const { after, max } = debounce;
  const problems = [
    ...(await problemsOf('debounce.after is invalid', () => positiveMs(after))),
    ...(max === undefined ? [] : await problemsOf('debounce.max is invalid', () => positiveMs(max))),
  ];
  if (problems.length > 0 || max === undefined || durationMs(max) >= durationMs(after)) return problems;
  return [`debounce.max is invalid: '${max}' is shorter than debounce.after, '${after}'`];
}

/** Both durations in milliseconds, with the default of the maximum. */
function debounceOf({ after, max }: NonNullable<RawKubernetes['debounce']>): Debounce {
  const afterMs = durationMs(after);
  return { afterMs, maxMs: max === undefined ? DEBOUNCE_MAX_FACTOR * afterMs : durationMs(max) };
}

/** The fields that schedule and kubernetes bindings share, with defaults. */
function queuedPart(item: RawQueued, kubernetes: readonly RawKubernetes[], defaultName: string) {
  const group = given(item.group);
  return {
    name: given(item.name) ?? defaultName,
    allowFailure: item.allowFailure ?? false,
    queue: queueName(item) ?? 'main',
    ...(typeof item.queue === 'object' ? { keyed: keyedQueue(item.queue) } : {}),
    snapshotsFrom: snapshotPositions(item, kubernetes),
    ...(group === undefined ? {} : { group }),
  };
}

/** One kubernetes binding with all defaults. `executeHookOnEvent` wins over its old name `watchEvent`. */
function kubernetesBinding(
  item: RawKubernetes,
  index: number,
  kubernetes: readonly RawKubernetes[],
): KubernetesBinding {
  const { labelSelector, nameSelector, fieldSelector, namespace } = item;
  const [apiVersion, jqFilter] = [given(item.apiVersion), given(item.jqFilter)];
  return {
    type: 'kubernetes',
    index,
    ...queuedPart(item, kubernetes, 'kubernetes'),
    executeOnSynchronization: item.executeHookOnSynchronization ?? true,
    // Only a binding with a queue of its own may be overtaken by what waits for synchronization.
    waitForSynchronization: queueName(item) === undefined || (item.waitForSynchronization ?? true),
    ...(item.debounce === undefined ? {} : { debounce: debounceOf(item.debounce) }),
    ...(item.coalesce === 'object' ? { coalesce: item.coalesce } : {}),
    watch: {
      name: snapshotName(item),
      kind: item.kind,
      keepFullObjects: item.keepFullObjectsInMemory ?? true,
      executeOnEvents: item.executeHookOnEvent ?? item.watchEvent ?? ALL_EVENTS,
      ...(apiVersion === undefined ? {} : { apiVersion }),
      ...(jqFilter === undefined ? {} : { jqFilter }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(nameSelector === undefined ? {} : { nameSelector: nameSelector.matchNames }),
      ...(fieldSelector === undefined ? {} : { fieldSelector: fieldSelector.matchExpressions }),
      ...(namespace === undefined ? {} : { namespace: namespaceSelector(namespace) }),
    },
  };
}

/** A label selector makes the list of names void. */
function namespaceSelector(namespace: NonNullable<RawKubernetes['namespace']>) {
  const { labelSelector, nameSelector } = namespace;
  if (labelSelector !== undefined) return { labelSelector };
  return nameSelector === undefined ? {} : { nameSelector: nameSelector.matchNames };
}

/** Settings with durations in milliseconds; a duration of zero means no limit, so the field is absent. */
function hookSettings({
  executionMinInterval,
  executionBurst,
  timeout,
  restartOnChange = false,
  exitCodes,
  statusCodes,
  retry,
}: RawSettings): HookSettings {
  const minIntervalMs = durationMs(executionMinInterval ?? '0s');
  const timeoutMs = durationMs(timeout ?? '0s');
  return {
    ...(minIntervalMs > 0
      ? { rateLimit: { intervalMs: minIntervalMs, burst: Math.max(1, executionBurst ?? 1) } }
      : {}),
    ...(timeoutMs > 0 ? { timeoutMs } : {}),
    ...(restartOnChange ? { restartOnChange } : {}),
    ...(exitCodes === undefined ? {} : { exitCodes: outcomeCodes(exitCodes) }),
    ...(statusCodes === undefined ? {} : { statusCodes: outcomeCodes(statusCodes) }),
    ...(retry === undefined ? {} : { retry: retryLimits(retry) }),
  };
}

/** Absent lists are empty. */
function outcomeCodes({ temporary = [], permanent = [] }: Partial<OutcomeCodes>): OutcomeCodes {
  return { temporary, permanent };
}

/** The schema guarantees at least one limit. */
function retryLimits({ max, within, onExhausted = 'fail' }: NonNullable<RawSettings['retry']>): RetryLimits {
  return {
    ...(max === undefined ? {} : { max }),
    ...(within === undefined ? {} : { withinMs: durationMs(within) }),
    onExhausted,
  };
}
