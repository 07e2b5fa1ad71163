import { type Clock, roundedMs } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type Span, traceparentOf } from '@addon-operator/base/trace';
import { finishInSlices } from '@addon-operator/concurrency/steps';
import type { HookOutputTexts } from '@addon-operator/sdk/host';
import type { BindingType } from '../hook-config/hook-config.ts';
import { bindingNameOf } from '../hooks/binding-context.ts';
import { type Hook, title, valuesOwnerOf } from '../hooks/hook.ts';
import { outputSteps, type ParsedOutputs } from '../hooks/parse-outputs.ts';
import { isFinal, isNotYet } from '../hooks/retry-errors.ts';
import type { HookExit, HookRunResult, HookRuns } from '../hooks/run-hook.ts';
import type { HookFacts } from '../journal/run.ts';
import type { HookRunLabels, OperatorMetrics } from '../metrics/operator-metrics.ts';
import {
  isProbe,
  MODULES,
  type Readiness,
  readinessOfFailure,
  takeReadiness,
} from '../model/probe-readiness.ts';
import { RunningHooks } from '../model/running-hooks.ts';
import type { HookRun } from '../model/tasks.ts';
import {
  type ApplyParts,
  applyOutputs,
  type HookEffects,
  NO_EFFECTS,
  type Written,
} from './apply-outputs.ts';
import { type HookInputsOptions, HookInputWriter, isBesideQueue } from './hook-inputs.ts';
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

/**
 * Runs hooks and applies what they wrote, whether a task, an admission request or a conversion needs it. The order is the
 * same for all: write contexts and values, run the hook (executable, thread or HTTP), check all its outputs, and only then
 * apply them, so that a run with one bad output has no effect. Callers decide what follows from the changed values.
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
      const { document, covered, ...values } = await this.#inputs.write(run, hook, log);
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

  async #checkAndApply(run: HookRun, parsed: Written, span: Span, signal: AbortSignal): Promise<HookEffects> {
    if (isOfDeploy(run)) refuseValues(parsed, run.binding);
    this.#options.values.checkPatches(valuesOwnerOf(run.hook.hook), parsed.patches);
    return await applyOutputs(this.#options, run, parsed, span, signal);
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

function traceOf({ context }: Span): { readonly traceparent?: string } {
  return context === undefined ? {} : { traceparent: traceparentOf(context) };
}

function bytesOf({ context }: Span, outputs: HookOutputTexts): Written['bytes'] {
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
