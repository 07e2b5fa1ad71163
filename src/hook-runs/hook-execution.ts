import { type Clock, roundedMs } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type Span, traceparentOf } from '@addon-operator/base/trace';
import { finishInSlices } from '@addon-operator/concurrency/steps';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import {
  type BindingType,
  isAwaitedByClient,
  isBesideQueues,
  kindFactsOf,
} from '../hook-config/binding-kinds.ts';
import { bindingNameOf } from '../hooks/binding-context.ts';
import { type Hook, title, valuesOwnerOf } from '../hooks/hook.ts';
import { outputSteps, type ParsedOutputs } from '../hooks/parse-outputs.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { HookExit, HookRunInputs, HookRunResult, HookRuns } from '../hooks/run-hook.ts';
import type { HookFacts } from '../journal/run.ts';
import type { HookRunLabels, OperatorMetrics } from '../metrics/operator-metrics.ts';
import {
  isProbe,
  MODULES,
  type Readiness,
  readinessOfFailure,
  takeReadiness,
} from '../model/probe-readiness.ts';
import { RunningHooks, type RunReport } from '../model/running-hooks.ts';
import type { HookRun } from '../model/tasks.ts';
import {
  type ApplyParts,
  applyOutputs,
  type HookEffects,
  NO_EFFECTS,
  type Written,
} from './apply-outputs.ts';
import { type HookInputsOptions, HookInputWriter } from './hook-inputs.ts';
import { hookLabels } from './hook-labels.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { isDroppedOnPurpose, RetryBudgets } from './retry-budgets.ts';

export interface HookExecutionOptions extends ApplyParts, HookInputsOptions {
  readonly clock: Clock;
  readonly hookRunner: HookRuns;
  readonly objectPatcher: ApplyParts['objectPatcher'] & {
    /** Whether the API server serves a kind. */
    serves(apiVersion: string, kind: string, signal: AbortSignal): Promise<boolean>;
  };
  readonly metrics: OperatorMetrics;
  readonly observe: ObserveHookRun;
}

/** Called at the start of a hook run; the returned follower observes the run to its end. */
export type ObserveHookRun = (run: HookRun, queue: string, log: Logger) => HookRunFollower;

export interface HookRunFollower {
  /** Receives the output of the hook, and log records about it. */
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
  /** The error message; undefined after a success, and when the daemon stopped. */
  readonly error: string | undefined;
  /** The error of a run that did not succeed, also when the daemon stopped. */
  readonly cause: { readonly error: unknown; readonly isAborted: boolean } | undefined;
  readonly exit: HookExit;
  /** The number of binding contexts it was given. */
  readonly contexts: number;
  /** The number of applied patches. */
  readonly patches: HookFacts['patches'];
  /** The result of a readiness probe; undefined if it reported nothing, and for all other hooks. */
  readonly readiness: Readiness | undefined;
}

/** Facts that the steps add, for the account at the end. */
interface RunFacts {
  cause: HookRunEnd['cause'];
  exit: HookExit;
  contexts: number;
  patches: HookRunEnd['patches'];
  readiness: Readiness | undefined;
  onRefused: HookRunResult['onRefused'];
}

/** A started hook run. */
interface StartedRun {
  readonly run: HookRun;
  readonly queue: string;
  /** With the time limit of this run, if the hook sets none. */
  readonly hook: Hook;
  readonly labels: HookRunLabels;
  /** Aborts when the daemon stops or the attempt of the task is aborted. */
  readonly signal: AbortSignal;
  /** Aborts also when a user ends this run. */
  readonly ends: AbortSignal;
  readonly shown: RunReport;
  /** Tells the hook's runtime that the run is over. */
  readonly end: () => void;
  readonly follower: HookRunFollower;
  readonly startedAtMs: number;
  readonly startedMs: number;
  readonly facts: RunFacts;
}

interface PreparedInputs extends HookRunInputs {
  /** The number of reasons that the contexts cover; final when the hook has read them. */
  readonly covered: () => number;
}

/** The checked outputs of a hook. */
interface CheckedOutputs {
  readonly outputs: Written;
  /** The report of a readiness probe. */
  readonly readiness: Readiness | undefined;
}

/**
 * Runs hooks and applies their outputs, for tasks (`hook-run.ts`), webhooks (`webhook-run.ts`) and
 * deploy hooks. The five steps are the same for all: prepare (write contexts and values), run
 * (executable, thread or HTTP), check all outputs, apply them only then, so that one bad output
 * leaves no effect, and account for the result in logs, metrics and the journal. Callers decide
 * what follows from changed values. A run can fail at each step; whether it is retried is decided
 * by the error: see `retry-budgets.ts`.
 */
export class HookExecution {
  readonly running: RunningHooks;
  readonly #options: HookExecutionOptions;
  readonly #idempotencyKeys = new IdempotencyKeys();
  readonly #inputs: HookInputWriter;
  readonly #budgets: RetryBudgets;

  constructor(options: HookExecutionOptions) {
    this.#options = options;
    this.#inputs = new HookInputWriter(options);
    this.running = new RunningHooks(options.clock);
    this.#budgets = new RetryBudgets(options.clock);
  }

  /**
   * Runs a hook once and applies its outputs: metrics, Kubernetes operations, config values (saved
   * in the ConfigMap), values, flags. All outputs are parsed and checked before the first is
   * applied.
   *
   * @param onContexts called at the end of the hook with the number of reasons whose contexts it
   *   was given
   * @throws OperatorError when the hook fails, when an output is invalid (nothing is applied), when
   *   applying fails (earlier outputs stay applied, and the hook has to run again), and RUN_ABORTED
   *   when a user ends the run
   */
  async run(
    run: HookRun,
    queue: string,
    taskLog: Logger,
    signal: AbortSignal,
    onContexts: (covered: number) => void = () => undefined,
  ): Promise<HookEffects> {
    const started = this.#start(run, queue, taskLog, signal);
    try {
      const inputs = await this.#prepare(started);
      const written = await this.#runHook(started, inputs, onContexts);
      const checked = await this.#check(started, written);
      // The module was deleted in the meantime: its values must not reappear.
      if (checked === undefined) return NO_EFFECTS;
      const effects = await this.#apply(started, checked);
      this.#accountSuccess(started, checked);
      return effects;
    } catch (error) {
      throw await this.#accountFailure(started, error);
    } finally {
      this.#accountEnd(started);
    }
  }

  #start(run: HookRun, queue: string, taskLog: Logger, signal: AbortSignal): StartedRun {
    const { clock, observe } = this.#options;
    const aborted = new AbortController();
    const end = run.hook.begin((error) => aborted.abort(error));
    const labels = hookLabels(run, queue);
    const startedAtMs = clock.wallMs();
    const startedMs = clock.steadyMs();
    const shown = this.running.add({
      labels: { ...labels, queue },
      hook: run.hook.hook,
      log: taskLog,
      startedAtMs,
      abort: (error) => aborted.abort(error),
    });
    const follower = observe(run, queue, taskLog);
    follower.log.debug({}, 'hook started');
    return {
      run,
      queue,
      hook: hookWithLimit(run),
      labels,
      signal,
      // Both signals end the run, but only a stop of the daemon is no failure of the hook.
      ends: AbortSignal.any([signal, aborted.signal]),
      shown,
      end,
      follower,
      startedAtMs,
      startedMs,
      facts: {
        cause: undefined,
        exit: {},
        contexts: 0,
        patches: { values: 0, objects: 0 },
        readiness: undefined,
        onRefused: undefined,
      },
    };
  }

  async #prepare({ run, hook, follower }: StartedRun): Promise<PreparedInputs> {
    const { document, ...rest } = await this.#inputs.write(run, hook, follower.log);
    // The key belongs to the work, not to the attempt: a retry sends the same one.
    const idempotencyKey = this.#idempotencyKeys.of(...workOf(run));
    return { bindingContext: document, ...rest, idempotencyKey };
  }

  async #runHook(
    { run, hook, labels, ends, shown, follower, facts }: StartedRun,
    { covered, ...inputs }: PreparedInputs,
    onContexts: (covered: number) => void,
  ): Promise<HookOutputContents> {
    const { hookRunner, metrics } = this.#options;
    const onStart = (pid: number): void => shown.setPid(pid);
    const onExit = (exit: HookExit): void => void (facts.exit = exit);
    // A client waits for the response, so the run is allowed even while the daemon is stopping.
    const isAwaited = isAwaitedByClient(run.reasons);
    const given = { ...inputs, onStart, onExit, ...traceOf(follower.span), isAwaited };
    const { outputs, onRefused } = await hookRunner.run(hook, given, follower.log, ends).finally(() => {
      // Also after a failure: the contexts that were read count as attempted.
      facts.contexts = covered();
      onContexts(facts.contexts);
    });
    facts.onRefused = onRefused;
    const { usage } = facts.exit;
    if (usage !== undefined) metrics.hookUsage(labels, usage);
    return outputs;
  }

  /** Parses and checks all outputs; undefined if the hook was stopped in the meantime. */
  async #check(
    { run, hook, signal, follower: { log, span } }: StartedRun,
    written: HookOutputContents,
  ): Promise<CheckedOutputs | undefined> {
    // Checked again after the parsing below, which yields to other tasks.
    if (run.hook.isStopped) return undefined;
    const all = await finishInSlices(outputSteps(written, hook, log), this.#options.clock);
    if (run.hook.isStopped) return undefined;
    const { parsed, readiness } = withoutReadiness(hook, all);
    await inNameOf(hook, signal, async () => {
      // Values are checked here and applied in `applyOutputs`, so that objects are not changed for
      // invalid values.
      if (!kindFactsOf(run.binding).mayChangeValues) refuseValues(parsed, run.binding);
      this.#options.values.checkPatches(valuesOwnerOf(hook), parsed.patches);
    });
    return { outputs: { ...parsed, bytes: bytesOf(span, written) }, readiness };
  }

  async #apply(
    { run, hook, signal, ends, follower }: StartedRun,
    { outputs }: CheckedOutputs,
  ): Promise<HookEffects> {
    const applying = () => applyOutputs(this.#options, run, outputs, follower.span, ends);
    return await inNameOf(hook, signal, applying);
  }

  #accountSuccess(started: StartedRun, { outputs, readiness }: CheckedOutputs): void {
    const { run, queue, labels, follower, facts, startedAtMs, startedMs } = started;
    const { clock, metrics } = this.#options;
    this.#idempotencyKeys.succeeded(...workOf(run));
    this.#budgets.succeeded(run, queue);
    if (run.hook.hasFailures) run.hook.forgetFailures(bindingsOf(run));
    const durationMs = clock.steadyMs() - startedMs;
    metrics.hookSucceeded(labels, startedAtMs + durationMs);
    facts.patches = countsOf(outputs);
    facts.readiness = readiness;
    const contexts = facts.contexts > 1 ? { contexts: facts.contexts } : {};
    follower.log.info({ durationMs: roundedMs(durationMs), ...contexts }, 'hook finished');
  }

  /**
   * Returns the error of the run: the original one, or one that says that the retries are used up.
   */
  async #accountFailure(started: StartedRun, thrown: unknown): Promise<unknown> {
    const { run, queue, hook, labels, signal, ends, facts } = started;
    facts.onRefused?.(thrown);
    // A run that the daemon's stop has ended must not use up a retry.
    const error = signal.aborted ? thrown : this.#noteFailure(run, queue, labels, thrown);
    if (isProbe(hook) && !ends.aborted) facts.readiness = await this.#readinessOfFailure(thrown, ends);
    facts.cause = { error, isAborted: signal.aborted };
    return error;
  }

  #accountEnd({ run, labels, shown, end, follower, facts, startedAtMs, startedMs }: StartedRun): void {
    const { clock, metrics } = this.#options;
    shown.end();
    const durationMs = clock.steadyMs() - startedMs;
    const { cause, exit, contexts, patches, readiness } = facts;
    const error = cause === undefined || cause.isAborted ? undefined : messageOf(cause.error);
    follower.end({ run, startedAtMs, durationMs, error, cause, exit, contexts, patches, readiness });
    metrics.hookRun(labels, durationMs / 1_000);
    end();
  }

  /**
   * The readiness after a failed probe; undefined if the API server cannot be asked. The next tick
   * probes again.
   */
  async #readinessOfFailure(error: unknown, signal: AbortSignal): Promise<Readiness | undefined> {
    try {
      const { group, version, kind } = MODULES;
      const isServed = await this.#options.objectPatcher.serves(`${group}/${version}`, kind, signal);
      return readinessOfFailure(messageOf(error), isServed);
    } catch {
      return undefined;
    }
  }

  /** The error of a failed run: the original one, or one that says that the retries are used up. */
  #noteFailure(run: HookRun, queue: string, labels: HookRunLabels, thrown: unknown): unknown {
    const { metrics, clock } = this.#options;
    const atMs = clock.wallMs();
    if (isBesideQueues(run.reasons)) {
      // A deployment shows the failures of its hooks itself.
      if (kindFactsOf(run.binding).failuresOf === 'requests')
        for (const binding of bindingsOf(run))
          run.hook.noteFailedRequest({ binding, error: messageOf(thrown), atMs });
      return thrown;
    }
    const error = this.#budgets.failed(run, queue, thrown);
    if (isNotYet(error)) metrics.hookUnfinished(labels, 'temporary');
    else if (isFinal(error) && !isDroppedOnPurpose(run, error)) {
      metrics.hookUnfinished(labels, 'permanent');
      // Only a run of its own is shown as failed: a hook of a module run fails that run.
      if (run.repeatedBy === undefined)
        for (const binding of bindingsOf(run))
          run.hook.noteFinalFailure({ binding, error: messageOf(error), atMs });
    }
    return error;
  }
}

/** Separates the report of a readiness probe from the outputs to apply. */
function withoutReadiness(
  hook: Hook,
  written: ParsedOutputs,
): { readonly parsed: ParsedOutputs; readonly readiness: Readiness | undefined } {
  if (!isProbe(hook)) return { parsed: written, readiness: undefined };
  const { readiness, others } = takeReadiness(written.objectOperations);
  return { parsed: { ...written, objectOperations: others }, readiness };
}

/** The identity of a run's work, for its idempotency key. */
function workOf(run: HookRun): [task: object, work: string] {
  return [run.repeatedBy ?? run, `${run.binding} ${run.hook.hook.name}`];
}

/** Names of the bindings that a run is for. */
function bindingsOf({ reasons }: HookRun): ReadonlySet<string> {
  return new Set(reasons.map(bindingNameOf));
}

/** The `traceparent` that the hook gets, so that its own spans join the trace. */
function traceOf({ context }: Span): { readonly traceparent?: string } {
  return context === undefined ? {} : { traceparent: traceparentOf(context) };
}

/** The sizes of the patches, computed only for a traced run. */
function bytesOf({ context }: Span, outputs: HookOutputContents): Written['bytes'] {
  if (context === undefined) return {};
  const { kubernetesPatch, valuesPatch, configValuesPatch } = outputs;
  const values = Buffer.byteLength(valuesPatch) + Buffer.byteLength(configValuesPatch);
  return { objects: Buffer.byteLength(kubernetesPatch), values };
}

/** The number of operations in the outputs, for the journal. */
function countsOf({ patches, objectOperations }: ParsedOutputs): HookFacts['patches'] {
  return { values: patches.config.length + patches.values.length, objects: objectOperations.length };
}

/** The hook with the time limit of this run, unless it has its own; HTTP hooks always have one. */
function hookWithLimit({ hook: { hook }, fallbackTimeoutMs }: HookRun): Hook {
  const { config, transport } = hook;
  const hasLimit = config.settings.timeoutMs !== undefined || transport === 'http';
  if (fallbackTimeoutMs === undefined || hasLimit) return hook;
  return { ...hook, config: { ...config, settings: { ...config.settings, timeoutMs: fallbackTimeoutMs } } };
}

/** Whether the run is one of a deploy hook. */
function refuseValues({ patches, flags }: ParsedOutputs, binding: BindingType): void {
  if (patches.config.length + patches.values.length + flags.length === 0) return;
  throw new OperatorError(
    'HOOK_OUTPUT_INVALID',
    `it changes values, which is not allowed for ${binding}, so none of its output is applied: ` +
      'change values for a schedule or kubernetes binding',
  );
}

/** Adds the name of the hook to errors about its outputs. */
async function inNameOf<T>(hook: Hook, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (signal.aborted || !(cause instanceof OperatorError)) throw cause;
    throw new OperatorError(cause.code, `${title(hook)}: ${cause.message}`, { cause });
  }
}
