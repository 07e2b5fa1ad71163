import { type Clock, roundedMs } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type Span, traced, traceparentOf } from '@addon-operator/base/trace';
import { finishInSlices } from '@addon-operator/concurrency/steps';
import type { JsonObject } from '@addon-operator/json';
import type { PatchOperation as ObjectOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { HookOutputContents, HookRunContents } from '@addon-operator/sdk/host';
import { laneName } from '@addon-operator/task-queue/lane-name';
import type { BindingType } from '../hook-config/hook-config.ts';
import {
  bindingNameOf,
  buildBindingContexts,
  buildBindingContextsV0,
  type RunReason,
} from '../hooks/binding-context.ts';
import { type ContextLimits, type NumberedContext, writeContexts } from '../hooks/context-document.ts';
import { type Hook, title, valuesOwnerOf } from '../hooks/hook.ts';
import { roomForContexts } from '../hooks/http/http-hooks.ts';
import { outputSteps, type ParsedOutputs } from '../hooks/parse-outputs.ts';
import { queueOf } from '../hooks/queue-keys.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { HookExit, HookRunResult, HookRuns } from '../hooks/run-hook.ts';
import type { AdmissionResponse, ConversionResponse } from '../hooks/webhook-responses.ts';
import type { HookFacts } from '../journal/run.ts';
import type { HookLabels, HookMetrics } from '../metrics/hook-metrics.ts';
import type { HookRunLabels, OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import {
  isProbe,
  MODULES,
  type Readiness,
  readinessOfFailure,
  takeReadiness,
} from '../model/probe-readiness.ts';
import { RunningHooks } from '../model/running-hooks.ts';
import type { HookRun } from '../model/tasks.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToGlobalHook, visibleToModule } from '../values/visible-values.ts';
import { CanonicalTexts } from './canonical-texts.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { isDroppedOnPurpose, RetryBudgets } from './retry-budgets.ts';

export interface HookExecutionOptions {
  readonly clock: Clock;
  readonly hookRunner: HookRuns;
  readonly values: ValuesStore;
  readonly configMap: Pick<ConfigMapStore, 'save'>;
  readonly dynamicFlags: DynamicFlags;
  readonly objectPatcher: {
    apply(operations: readonly ObjectOperation[], signal: AbortSignal, span: Span): Promise<void>;
    /** Whether the API server serves a kind. */
    serves(apiVersion: string, kind: string, signal: AbortSignal): Promise<boolean>;
  };
  readonly hookMetrics: HookMetrics;
  readonly metrics: OperatorMetrics;
  readonly enabledModules: () => readonly ModuleName[];
  /** Follows the Secrets that values refer to now. */
  readonly followSecrets: () => Promise<void>;
  /** What is over goes into the next run. */
  readonly maxContextBytes: number;
  readonly observe: ObserveHookRun;
}

/** Called when a hook is to be run; what it returns follows the run to its end. */
export type ObserveHookRun = (run: HookRun, queue: string, log: Logger) => HookRunFollower;

export interface HookRunFollower {
  /** Gets what the hook prints, and what is logged about that. */
  readonly log: Logger;
  /** The span of the run, which `end` ends. */
  readonly span: Span;
  /** Called after every run, failed or not. */
  readonly end: (end: HookRunEnd) => void;
}

export interface HookRunEnd {
  readonly run: HookRun;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Why it failed; undefined after a success, and when the daemon stopped in the meantime. */
  readonly error: string | undefined;
  /** What ended it, if it did not succeed; the daemon's stop included. */
  readonly cause: { readonly error: unknown; readonly isAborted: boolean } | undefined;
  readonly exit: HookExit;
  /** Binding contexts that it was given. */
  readonly contexts: number;
  /** What it wrote and is applied. */
  readonly patches: HookFacts['patches'];
  /** What a readiness probe came to; undefined if it said nothing, and for all other hooks. */
  readonly readiness: Readiness | undefined;
}

const NO_PATCHES = { values: 0, objects: 0 };

/** What one hook run changed for the rest of the daemon. */
export interface HookEffects {
  /** The merged values of the hook's owner are different now. */
  readonly areValuesChanged: boolean;
  /** A global hook changed what it says about enabled modules. */
  readonly areFlagsChanged: boolean;
  /** What the hook returned for an admission request; undefined where it returned nothing. */
  readonly admission: AdmissionResponse | undefined;
  /** What the hook returned for a conversion; undefined where it returned nothing. */
  readonly conversion: ConversionResponse | undefined;
}

const BESIDE_QUEUES: ReadonlySet<RunReason['type']> = new Set(['admission', 'conversion', 'deploy']);

/** Sections and their direct members: they are composed again for each run. */
const VALUES_LEVELS = 2;

const NO_EFFECTS: HookEffects = {
  areValuesChanged: false,
  areFlagsChanged: false,
  admission: undefined,
  conversion: undefined,
};

/**
 * Runs hooks and applies what they wrote, whether a task, an admission request or a conversion needs it. The order is the
 * same for all: write contexts and values, run the hook (executable, thread or HTTP), check all its outputs, and only then
 * apply them, so that a run with one bad output has no effect. Callers decide what follows from the changed values.
 */
export class HookExecution {
  readonly running: RunningHooks;
  readonly #options: HookExecutionOptions;
  readonly #idempotencyKeys = new IdempotencyKeys();
  readonly #texts = new CanonicalTexts();
  readonly #budgets: RetryBudgets;

  constructor(options: HookExecutionOptions) {
    this.#options = options;
    this.running = new RunningHooks(options.clock);
    this.#budgets = new RetryBudgets(options.clock);
  }

  /**
   * Runs a hook once, and applies its outputs: metrics, Kubernetes operations, config values (written back to the
   * ConfigMap), values, enabled flags. All of them are parsed and checked before the first is applied.
   *
   * @param onContexts called with the number of reasons whose contexts the hook is given, before it is run
   * @throws OperatorError when the hook fails, when an output is broken (nothing is applied then), or when applying
   *   fails (what was applied before stays; the hook is to be run again), and RUN_ABORTED when a user ends the run
   */
  async run(
    run: HookRun,
    queue: string,
    taskLog: Logger,
    signal: AbortSignal,
    onContexts: (covered: number) => void = () => undefined,
  ): Promise<HookEffects> {
    const hook = hookWithLimit(run);
    const own = new AbortController();
    const ends = AbortSignal.any([signal, own.signal]);
    const { clock, metrics } = this.#options;
    const labels = hookLabels(run, queue);
    const task = run.repeatedBy ?? run;
    const work = `${run.binding} ${hook.name}`;
    const startedAtMs = clock.wallMs();
    const startedMs = clock.steadyMs();
    const shown = this.running.add({
      labels: { ...labels, queue },
      hook: run.hook.hook,
      log: taskLog,
      startedAtMs,
      abort: (error) => own.abort(error),
    });
    const follower = this.#options.observe(run, queue, taskLog);
    const { log, span } = follower;
    log.debug({}, 'hook started');
    let ending: HookRunEnd['cause'];
    let exit: HookExit = {};
    let given = 0;
    let patches: HookRunEnd['patches'] = NO_PATCHES;
    let readiness: Readiness | undefined;
    let onRefused: HookRunResult['onRefused'];
    try {
      const contexts = this.#bindingContexts(run, log);
      const values = this.#values(run);
      const { document, covered } = await writeContexts(contexts, this.#limitsOf(hook, values));
      const idempotencyKey = this.#idempotencyKeys.of(task, work);
      const onStart = (pid: number): void => shown.setPid(pid);
      const onExit = (ended: HookExit): void => void (exit = ended);
      const isAwaited = run.reasons.some(({ type }) => type === 'admission' || type === 'conversion');
      const calls = { onStart, onExit, ...traceOf(span) };
      const inputs = { bindingContext: document, ...values, idempotencyKey, ...calls, isAwaited };
      const running = this.#options.hookRunner.run(hook, inputs, log, ends);
      const { outputs, ...result } = await running.finally(() => {
        given = covered();
        onContexts(given);
      });
      onRefused = result.onRefused;
      if (exit.usage !== undefined) metrics.hookUsage(labels, exit.usage);
      // Its module was deleted in the meantime: nothing of it may come back. The same goes for the waits below.
      if (run.hook.isStopped) return NO_EFFECTS;
      const written = await finishInSlices(outputSteps(outputs, hook, log), clock);
      if (run.hook.isStopped) return NO_EFFECTS;
      const { parsed, reported } = withoutReport(hook, written);
      const applying = () =>
        this.#checkAndApply(run, { ...parsed, bytes: bytesOf(span, outputs) }, span, ends);
      const effects = await inNameOf(hook, signal, applying);
      this.#idempotencyKeys.succeeded(task, work);
      this.#budgets.succeeded(run, queue);
      if (run.hook.hasFailures) run.hook.forgetFailures(bindingsOf(run));
      metrics.hookSucceeded(labels, startedAtMs + clock.steadyMs() - startedMs);
      patches = countsOf(parsed);
      readiness = reported;
      const contextsOf = given > 1 ? { contexts: given } : {};
      log.info({ durationMs: roundedMs(clock.steadyMs() - startedMs), ...contextsOf }, 'hook finished');
      return effects;
    } catch (thrown) {
      onRefused?.(thrown);
      const cause = signal.aborted ? thrown : this.#noteFailure(run, queue, labels, thrown);
      if (isProbe(hook) && !ends.aborted) readiness = await this.#readinessOfFailure(thrown, ends);
      ending = { error: cause, isAborted: signal.aborted };
      throw cause;
    } finally {
      shown.end();
      const durationMs = clock.steadyMs() - startedMs;
      const error = ending === undefined || ending.isAborted ? undefined : messageOf(ending.error);
      const facts = { exit, contexts: given, patches, readiness };
      follower.end({ run, startedAtMs, durationMs, error, cause: ending, ...facts });
      metrics.hookRun(labels, durationMs / 1_000);
    }
  }

  /** A request that fails too says nothing about the module: the next tick probes again. */
  async #readinessOfFailure(error: unknown, signal: AbortSignal): Promise<Readiness | undefined> {
    try {
      const { group, version, kind } = MODULES;
      const isServed = await this.#options.objectPatcher.serves(`${group}/${version}`, kind, signal);
      return readinessOfFailure(messageOf(error), isServed);
    } catch {
      return undefined;
    }
  }

  /** The error of a failed run: the same, or one that says that it is not retried any more. */
  #noteFailure(run: HookRun, queue: string, labels: HookRunLabels, thrown: unknown): unknown {
    const { metrics, clock } = this.#options;
    const atMs = clock.wallMs();
    if (isBesideQueue(run)) {
      // What a deploy hook is a part of shows the failure itself.
      if (!isOfDeploy(run))
        for (const binding of bindingsOf(run))
          run.hook.noteFailedRequest({ binding, error: messageOf(thrown), atMs });
      return thrown;
    }
    const error = this.#budgets.failed(run, queue, thrown);
    if (isNotYet(error)) metrics.hookUnfinished(labels, 'temporary');
    else if (isFinal(error) && !isDroppedOnPurpose(run, error)) {
      metrics.hookUnfinished(labels, 'permanent');
      // What the run is a part of shows the failure itself.
      if (run.repeatedBy === undefined)
        for (const binding of bindingsOf(run))
          run.hook.noteFinalFailure({ binding, error: messageOf(error), atMs });
    }
    return error;
  }

  #limitsOf(hook: Hook, values: Pick<HookRunContents, 'values' | 'configValues'>): ContextLimits {
    const room = hook.transport === 'http' ? roomForContexts(values) : Number.POSITIVE_INFINITY;
    // Hooks of the old format are given one context a run.
    const maxContexts = hook.config.version === 'v0' ? 1 : Number.MAX_SAFE_INTEGER;
    return { maxBytes: Math.min(this.#options.maxContextBytes, room), maxContexts };
  }

  #values(run: HookRun): Pick<HookRunContents, 'values' | 'configValues'> {
    const visible = this.#visibleValues(run);
    const owner = valuesOwnerOf(run.hook.hook);
    return {
      values: this.#texts.of(`values ${owner}`, visible.values, VALUES_LEVELS),
      configValues: this.#texts.of(`config values ${owner}`, visible.configValues, VALUES_LEVELS),
    };
  }

  #bindingContexts({ hook: runtime, reasons }: HookRun, log: Logger): Iterable<NumberedContext> {
    const { version, kubernetes } = runtime.hook.config;
    if (version === 'v0') return buildBindingContextsV0(reasons);
    // What comes beside the queues of the hook must not drop events that are held back.
    const isBeside = isBesideQueue({ reasons });
    return buildBindingContexts(reasons, kubernetes, (index) => {
      if (!runtime.isMonitored(index)) {
        const binding = kubernetes[index]?.name ?? '';
        this.#options.metrics.missingMonitor(binding);
        log.warn({ snapshot: binding }, 'snapshot of a binding that is not watched yet is empty');
      }
      return isBeside ? runtime.peek(index) : runtime.snapshot(index);
    });
  }

  #visibleValues(run: HookRun) {
    const { values, enabledModules } = this.#options;
    const { owner } = run.hook.hook;
    // A module must be able to go when its Secrets are gone already.
    const isForDeletion = run.binding === 'beforeDeleteHelm' || run.binding === 'afterDeleteHelm';
    return owner.type === 'global'
      ? visibleToGlobalHook(values)
      : visibleToModule(values, owner.module, enabledModules(), isForDeletion ? 'optional' : 'required');
  }

  async #checkAndApply(run: HookRun, parsed: Written, span: Span, signal: AbortSignal): Promise<HookEffects> {
    if (isOfDeploy(run)) refuseValues(parsed, run.binding);
    this.#options.values.checkPatches(valuesOwnerOf(run.hook.hook), parsed.patches);
    return await this.#apply(run, parsed, span, signal);
  }

  async #apply(run: HookRun, parsed: Written, span: Span, signal: AbortSignal): Promise<HookEffects> {
    const { hook } = run.hook;
    const { objectPatcher, hookMetrics, dynamicFlags } = this.#options;
    hookMetrics.apply(metricLabels(hook), parsed.metrics);
    const { objectOperations, bytes } = parsed;
    if (objectOperations.length > 0)
      await traced(
        span,
        'patch objects',
        { 'addon_operator.operations': objectOperations.length, 'addon_operator.bytes': bytes.objects },
        (own) => objectPatcher.apply(objectOperations, signal, own),
      );
    if (run.hook.isStopped) return NO_EFFECTS;
    const { config, values: patches } = parsed.patches;
    const { admission, conversion } = parsed;
    if (config.length + patches.length === 0)
      return {
        ...NO_EFFECTS,
        areFlagsChanged: dynamicFlags.apply(parsed.flags, hook.name),
        admission,
        conversion,
      };
    const attributes = {
      'addon_operator.operations': config.length + patches.length,
      'addon_operator.bytes': bytes.values,
    };
    return await traced(span, 'patch values', attributes, () => this.#applyValues(run, parsed, signal));
  }

  async #applyValues(run: HookRun, parsed: ParsedOutputs, signal: AbortSignal): Promise<HookEffects> {
    const { hook } = run.hook;
    const { values, configMap, dynamicFlags } = this.#options;
    const owner = valuesOwnerOf(hook);
    const { admission, conversion } = parsed;
    const { config, values: patches } = parsed.patches;
    const before = values.checksum(owner);
    if (config.length > 0) {
      const check = (section: JsonObject): void => values.checkConfigSection(owner, section);
      values.setConfigSection(owner, await configMap.save(owner, config, check, signal));
      await this.#options.followSecrets();
      if (run.hook.isStopped) return NO_EFFECTS;
    }
    values.applyPatch(owner, patches, hook.name);
    return {
      areValuesChanged: values.checksum(owner) !== before,
      areFlagsChanged: dynamicFlags.apply(parsed.flags, hook.name),
      admission,
      conversion,
    };
  }
}

/** What is to be applied, without what a probe reports. */
function withoutReport(
  hook: Hook,
  written: ParsedOutputs,
): { readonly parsed: ParsedOutputs; readonly reported: Readiness | undefined } {
  if (!isProbe(hook)) return { parsed: written, reported: undefined };
  const { readiness, others } = takeReadiness(written.objectOperations);
  return { parsed: { ...written, objectOperations: others }, reported: readiness };
}

/** Names of the bindings that a run is for. */
function bindingsOf({ reasons }: HookRun): ReadonlySet<string> {
  return new Set(reasons.map(bindingNameOf));
}

function isBesideQueue({ reasons }: Pick<HookRun, 'reasons'>): boolean {
  return reasons.some(({ type }) => BESIDE_QUEUES.has(type));
}

function traceOf({ context }: Span): { readonly traceparent?: string } {
  return context === undefined ? {} : { traceparent: traceparentOf(context) };
}

/** What a hook wrote, and the sizes of its patches if it is traced. */
interface Written extends ParsedOutputs {
  readonly bytes: { readonly objects?: number; readonly values?: number };
}

function bytesOf({ context }: Span, outputs: HookOutputContents): Written['bytes'] {
  if (context === undefined) return {};
  const { kubernetesPatch, valuesPatch, configValuesPatch } = outputs;
  const values = Buffer.byteLength(valuesPatch) + Buffer.byteLength(configValuesPatch);
  return { objects: Buffer.byteLength(kubernetesPatch), values };
}

function countsOf({ patches, objectOperations }: ParsedOutputs): HookFacts['patches'] {
  return { values: patches.config.length + patches.values.length, objects: objectOperations.length };
}

/** The hook with the limit of this run where it has none of its own, as HTTP hooks always have. */
function hookWithLimit({ hook: { hook }, fallbackTimeoutMs }: HookRun): Hook {
  const { config, transport } = hook;
  const hasLimit = config.settings.timeoutMs !== undefined || transport === 'http';
  if (fallbackTimeoutMs === undefined || hasLimit) return hook;
  return { ...hook, config: { ...config, settings: { ...config.settings, timeoutMs: fallbackTimeoutMs } } };
}

function isOfDeploy({ reasons }: HookRun): boolean {
  return reasons.some(({ type }) => type === 'deploy');
}

/** Hooks of a deploy look on: what they changed in the values would ask for further deploys of everything. */
function refuseValues({ patches, flags }: ParsedOutputs, binding: BindingType): void {
  if (patches.config.length + patches.values.length + flags.length === 0) return;
  throw new OperatorError(
    'HOOK_OUTPUT_INVALID',
    `it changes values, which is not allowed for ${binding}, so none of its output is applied: ` +
      'change values for a schedule or kubernetes binding',
  );
}

/** Puts the name of the hook in front of what goes wrong with its outputs. */
async function inNameOf<T>(hook: Hook, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (signal.aborted || !(cause instanceof OperatorError)) throw cause;
    throw new OperatorError(cause.code, `${title(hook)}: ${cause.message}`, { cause });
  }
}

function metricLabels({ owner, name }: Hook): HookLabels {
  return owner.type === 'global' ? { hook: name } : { module: owner.module, hook: name };
}

/** Labels of the metrics about runs of one hook. A key of a queue is not among them: their number has no limit. */
export function hookLabels(run: HookRun, queue: string): HookRunLabels {
  const { binding, activation } = run;
  return { ...metricLabels(run.hook.hook), binding, queue: queueLabel(run, queue), activation };
}

function queueLabel({ reasons: [reason] }: HookRun, queue: string): string {
  const own = queueOf(reason);
  return own?.lane !== undefined && queue === laneName(own.queue, own.lane.key) ? own.queue : queue;
}
