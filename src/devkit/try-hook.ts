import { type Clock, roundedMs } from '@addon-operator/base/clock';
import { codeOf, type ErrorCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { type Logger, loggerOf } from '@addon-operator/base/log';
import type { JsonObject } from '@addon-operator/json';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import { dumpYaml } from '@addon-operator/yaml';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent, WatchEventType } from '../hook-config/kubernetes-binding.ts';
import { valuesOwnerOf } from '../hooks/hook.ts';
import { type MetricOperation, parseMetricOperations } from '../metrics/metric-operation.ts';
import { type DiffLine, lineDiff } from '../plan/line-diff.ts';
import { sectionIn } from '../values/config-map-content.ts';
import { sectionOf } from '../values/module-key.ts';
import type { HookTap } from './hook-tap.ts';
import type { LoneHook } from './lone-hook.ts';
import { type NetChange, netChanges, type ReportedChange } from './object-changes.ts';
import { bindingForEvent, eventRun, type PlannedRun, runOfBinding, runsAtStart } from './planned-runs.ts';
import { startWatching } from './start-watching.ts';

/** Which runs of a hook are wanted. */
export interface TrialRequest {
  /** Absent: the runs at the start of the hook. */
  readonly binding?: string;
  /** Objects that exist before the hook is started. */
  readonly objects: readonly NewObject[];
  /** Absent: no event. */
  readonly event?: { readonly type: WatchEventType; readonly object: NewObject };
}

export interface TrialParts {
  readonly hook: LoneHook;
  readonly tap: HookTap;
  /** All changes of objects so far, but for the ConfigMap of the operator. */
  readonly changes: readonly ReportedChange[];
  readonly clock: Clock;
  /** Gets each line that the hook prints, as it comes. */
  readonly onLine: (line: PrintedLine) => void;
}

export interface PrintedLine {
  readonly stream: 'stdout' | 'stderr';
  readonly level: string;
  readonly text: string;
  /** Further keys of a line that is a JSON object. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One run of the hook, and all that came of it. */
export interface TrialRun {
  /** Type of the binding, such as `beforeHelm` or `kubernetes`. */
  readonly binding: string;
  /** The binding contexts, as the hook read them. */
  readonly contexts: unknown;
  readonly printed: readonly PrintedLine[];
  readonly values: readonly DiffLine[];
  readonly configValues: readonly DiffLine[];
  readonly metrics: readonly MetricOperation[];
  /** The changes of objects, by the hook itself, such as with kubectl, and by its output. */
  readonly objects: readonly NetChange[];
  readonly durationMs: number;
  /** Absent for a run that succeeded. */
  readonly failure?: { readonly message: string; readonly code: ErrorCode | undefined };
}

/** An event takes milliseconds to come; one that does not come in this time was not meant for the binding. */
const EVENT_LIMIT_MS = 5_000;

/**
 * Runs a hook as the operator would, one run after another; the first that fails is the last. Whether the hook fails is in its
 * run.
 *
 * @throws OperatorError when there is no such binding, or what is needed for a run cannot be had
 */
export async function* tryHook(
  parts: TrialParts,
  request: TrialRequest,
  signal: AbortSignal,
): AsyncGenerator<TrialRun> {
  const { runtime, objects } = parts.hook;
  for (const object of objectsBefore(request)) await objects.put(object, signal);
  await startWatching(runtime, signal);
  for (const planned of await plannedRuns(parts, request, signal)) {
    const run = await runOnce(parts, planned, signal);
    yield run;
    if (run.failure !== undefined) return;
  }
}

/** An object can be deleted only if it exists. */
function objectsBefore({ objects, event }: TrialRequest): readonly NewObject[] {
  return event?.type === 'Deleted' ? [...objects, event.object] : objects;
}

async function plannedRuns(
  parts: TrialParts,
  { binding, event }: TrialRequest,
  signal: AbortSignal,
): Promise<readonly PlannedRun[]> {
  const { config } = parts.hook.runtime.hook;
  if (event !== undefined) {
    const wanted = bindingForEvent(config, binding);
    return [eventRun([{ binding: wanted, event: await causeEvent(parts, wanted, event, signal) }])];
  }
  return binding === undefined ? runsAtStart(config) : [runOfBinding(config, binding)];
}

/** Changes the object in the cluster, and returns the event of the binding that came of it. */
async function causeEvent(
  { hook, clock }: TrialParts,
  wanted: KubernetesBinding,
  { type, object }: NonNullable<TrialRequest['event']>,
  signal: AbortSignal,
): Promise<KubernetesEvent> {
  if (!wanted.watch.executeOnEvents.includes(type))
    throw new OperatorError(
      'CONFIG_INVALID',
      `--event ${type}: binding '${wanted.name}' runs the hook only for ${wanted.watch.executeOnEvents.join(', ') || 'no events'} (executeHookOnEvent)`,
    );
  hook.runtime.snapshot(wanted.index);
  hook.runtime.unlock([wanted.index]);
  const came = Promise.withResolvers<KubernetesEvent>();
  const listener = (binding: KubernetesBinding, event: KubernetesEvent): void => {
    if (binding === wanted && event.watchEvent === type) came.resolve(event);
  };
  hook.listeners.add(listener);
  const ended = new AbortController();
  try {
    if (type === 'Deleted') await hook.objects.remove(object, signal);
    else await hook.objects.put(object, signal);
    const late = clock.sleep(EVENT_LIMIT_MS, AbortSignal.any([signal, ended.signal])).then(() => {
      throw new OperatorError(
        'CONFIG_INVALID',
        `the object did not lead to an event ${type} of binding '${wanted.name}' within ${EVENT_LIMIT_MS / 1_000} s: check its kind, namespace and labels against the selectors of the binding${wanted.watch.jqFilter === undefined ? '' : ', and whether the result of its jqFilter changes'}`,
      );
    });
    return await Promise.race([came.promise, late]);
  } finally {
    hook.listeners.delete(listener);
    ended.abort();
  }
}

async function runOnce(
  { hook, tap, changes, clock, onLine }: TrialParts,
  { binding, reasons }: PlannedRun,
  signal: AbortSignal,
): Promise<TrialRun> {
  const printed: PrintedLine[] = [];
  const log = printLog((line) => {
    printed.push(line);
    onLine(line);
  });
  const before = valuesTexts(hook);
  const changesBefore = changes.length;
  const startedMs = clock.steadyMs();
  const run = { hook: hook.runtime, binding, reasons, allowFailure: false, trigger: 'trial', activation: '' };
  const failure = await hook.execution.run(run, 'main', log, signal).then(
    () => undefined,
    (error: unknown) => {
      signal.throwIfAborted();
      return { message: messageOf(error), code: codeOf(error) };
    },
  );
  const durationMs = roundedMs(clock.steadyMs() - startedMs);
  const after = valuesTexts(hook);
  const outputs = tap.last?.outputs;
  return {
    binding,
    contexts: tap.contexts,
    printed,
    values: lineDiff(before.values, after.values),
    configValues: lineDiff(before.configValues, after.configValues),
    metrics:
      failure === undefined && outputs !== undefined ? parseMetricOperations(outputs.metrics).operations : [],
    objects: netChanges(changes.slice(changesBefore)),
    durationMs,
    ...(failure === undefined ? {} : { failure }),
  };
}

function valuesTexts({ values, configMap, runtime }: LoneHook): {
  readonly values: string;
  readonly configValues: string;
} {
  const owner = valuesOwnerOf(runtime.hook);
  return {
    values: yamlOf(values.knownValues(owner)),
    configValues: yamlOf(sectionIn(configMap.content, sectionOf(owner)) ?? {}),
  };
}

function yamlOf(values: JsonObject): string {
  return Object.keys(values).length === 0 ? '' : dumpYaml(values, 2);
}

/** Takes what a hook prints out of the log of its run. */
function printLog(onLine: (line: PrintedLine) => void, stream?: PrintedLine['stream']): Logger {
  return loggerOf(
    (level, fields, text) => {
      if (stream !== undefined) onLine({ stream, level, text, fields: hookFields(fields) });
    },
    ({ output }) => printLog(onLine, output === 'stdout' || output === 'stderr' ? output : stream),
  );
}

const HOOK_FIELD = 'hook_';

function hookFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => name.startsWith(HOOK_FIELD))
      .map(([name, value]) => [name.slice(HOOK_FIELD.length), value]),
  );
}
