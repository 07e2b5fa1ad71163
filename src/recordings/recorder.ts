/**
 * Records runs of hooks for `hook record`. Each run that a client wants is wrapped by `record`, which keeps a copy of the
 * input, waits for the outputs and sends one line of JSON to each listener. Without a listener runs are not wrapped. Only
 * the last failed runs are kept in memory, if `--record-failed` requests it. Secrets are masked unless a client requests
 * them.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { factsOf, messageOf } from '@addon-operator/base/errors';
import { fieldsOf, isObject, parseJson, stringOf } from '@addon-operator/json';
import type { Redactor } from '@addon-operator/masking/redactor';
import { ContextCopy } from './context-copy.ts';
import { FailedRuns } from './failed-runs.ts';
import { fullNameOf, type RecordedOutputs, type Recording } from './recording.ts';
import { maskedOutput, readOutput, SecretMasks } from './secret-masks.ts';

/** Whose run it is, and what the hook is given besides contexts. */
export interface RunToRecord {
  readonly hook: string;
  /** Empty for a global hook. */
  readonly module: string;
  readonly config: object;
  /** Names of variables. */
  readonly env: readonly string[];
  readonly contexts: string | AsyncIterable<Buffer>;
  /** JSON. */
  readonly values: string;
  /** JSON. */
  readonly configValues: string;
}

export interface RecorderOptions {
  /** Of the operator. */
  readonly version: string;
  readonly clock: SteadyClock & { wallMs(): number };
  /** Knows secrets besides those in the contexts and outputs of runs. */
  readonly redactor: Pick<Redactor, 'finder'>;
  /** How many runs that failed are kept; default none. */
  readonly keptFailures?: number;
}

/** The result of a run, for its recording. */
export interface RecordableRun {
  readonly outputs: RecordedOutputs;
  /** To be called if what the hook wrote is refused, or cannot be applied: the run has failed then. */
  readonly onRefused?: (error: unknown) => void;
}

/** Gets lines of JSON: `{"ready": …}`, `{"recording": …}` or `{"skipped": …}`; an empty one shows that the operator is there. */
export interface LineSink {
  write(text: string): void;
  /** Bytes that were written and not sent yet. */
  readonly unsentBytes: number;
}

export interface RecordWishes {
  /** Names of hooks, with `<module>/` in front of those of modules; empty: all. */
  readonly hooks: readonly string[];
  readonly hasSecrets: boolean;
}

interface Listener extends RecordWishes {
  readonly sink: LineSink;
  readonly masks: SecretMasks;
}

/** Empty lines keep proxies and clients from closing an idle connection. */
const HEARTBEAT_MS = 15_000;
/** Limits of memory. A run with larger contexts is reported as skipped. */
const MAX_CONTEXT_BYTES = 8 * 1024 * 1024;
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Sends the runs of hooks to those who record them, and keeps the last ones that failed if that is wanted. Otherwise, without a
 * listener, nothing is kept, and nothing is computed.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #listeners = new Set<Listener>();
  readonly #failed: FailedRuns;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#failed = new FailedRuns(options.keptFailures ?? 0, MAX_KEPT_BYTES);
  }

  /** Whether a client records runs now. */
  get isOn(): boolean {
    return this.#listeners.size > 0;
  }

  /** How many runs that failed are kept at most. */
  get keptFailures(): number {
    return this.#failed.maxRuns;
  }

  /** Whether runs of a hook are recorded now. */
  isWanted(hook: string): boolean {
    return this.#failed.isOn || [...this.#listeners].some((listener) => wants(listener, hook));
  }

  /** Sends each run of the hooks as a line, until the signal aborts. */
  async serve(sink: LineSink, wishes: RecordWishes, signal: AbortSignal): Promise<void> {
    const { version, clock } = this.#options;
    const listener = { ...wishes, sink, masks: new SecretMasks(this.#options.redactor.finder) };
    this.#listeners.add(listener);
    try {
      sink.write(`${JSON.stringify({ ready: version })}\n`);
      for (;;) {
        await clock.sleep(HEARTBEAT_MS, signal);
        sink.write('\n');
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** Sends the kept runs of the hooks that failed, the oldest first. */
  sendFailed(sink: Pick<LineSink, 'write'>, hooks: RecordWishes['hooks']): void {
    sink.write(`${JSON.stringify({ ready: this.#options.version })}\n`);
    for (const { hook, recording } of this.#failed.all)
      if (hooks.length === 0 || hooks.includes(hook)) sink.write(`{"recording":${recording}}\n`);
  }

  /**
   * Runs a hook and records the run.
   *
   * @param run gets the contexts that the hook is to be given
   * @throws what `run` throws
   */
  async record<T extends RecordableRun>(
    given: RunToRecord,
    run: (contexts: RunToRecord['contexts']) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { clock } = this.#options;
    const copy = new ContextCopy(given.contexts, MAX_CONTEXT_BYTES);
    const [at, startedMs] = [new Date(clock.wallMs()).toISOString(), clock.steadyMs()];
    const ended = (): object => ({ at, durationMs: Math.round(clock.steadyMs() - startedMs) });
    try {
      const result = await run(copy.document);
      const { outputs } = result;
      const facts = { ...ended(), outputs };
      this.#send(given, copy.text, facts);
      if (!this.#failed.isOn) return result;
      const onRefused = (error: unknown): void => {
        if (!signal.aborted) this.#keep(given, copy.text, { ...facts, error: messageOf(error) });
      };
      return { ...result, onRefused };
    } catch (error) {
      if (signal.aborted) throw error;
      const { exitCode, signal: killedBy } = factsOf(error);
      const facts = {
        ...ended(),
        error: messageOf(error),
        ...(exitCode !== undefined && { exitCode }),
        ...(killedBy !== undefined && { signal: killedBy }),
      };
      this.#send(given, copy.text, facts);
      this.#keep(given, copy.text, facts);
      throw error;
    }
  }

  #send(given: RunToRecord, contexts: string | undefined, result: object): void {
    const name = fullNameOf(given);
    for (const listener of [...this.#listeners].filter((each) => wants(each, name))) {
      const { sink } = listener;
      if (contexts === undefined)
        sink.write(`${JSON.stringify({ skipped: `${name}: its binding contexts are larger than 8 MiB` })}\n`);
      else if (sink.unsentBytes > MAX_UNSENT_BYTES)
        sink.write(`${JSON.stringify({ skipped: `${name}: the recorder does not keep up` })}\n`);
      else {
        const recording = this.#recordingOf(given, contexts, listener.hasSecrets, result);
        const shown = listener.hasSecrets ? recording : maskedRecording(recording, listener.masks);
        sink.write(`${JSON.stringify({ recording: shown })}\n`);
      }
    }
  }

  /** Keeps a run that failed. Its contexts may be too large for that. */
  #keep(given: RunToRecord, contexts: string | undefined, result: object): void {
    if (!this.#failed.isOn || contexts === undefined) return;
    const recording = this.#recordingOf(given, contexts, false, result);
    // Masks of its own: those of all runs together would grow without end.
    const masked = maskedRecording(recording, new SecretMasks(this.#options.redactor.finder));
    this.#failed.add({ hook: fullNameOf(given), recording: JSON.stringify(masked) });
  }

  #recordingOf(
    { hook, module, config, env, values, configValues }: RunToRecord,
    contexts: string,
    hasSecrets: boolean,
    result: object,
  ): Readonly<Record<string, unknown>> {
    const parsed = parseJson(contexts) as Recording['contexts'];
    return {
      version: 1,
      operator: this.#options.version,
      hook,
      module,
      binding: stringOf(parsed[0]?.['binding']),
      config,
      contexts: parsed,
      values: parseJson(values),
      configValues: parseJson(configValues),
      env,
      secrets: hasSecrets ? 'included' : 'masked',
      ...result,
    };
  }
}

/** The same recording with masks in place of secrets. */
function maskedRecording(
  { version, at, outputs, ...recording }: Readonly<Record<string, unknown>>,
  masks: SecretMasks,
): Readonly<Record<string, unknown>> {
  const written = Object.entries(fieldsOf(outputs)).map(([name, text]) => [name, stringOf(text)] as const);
  // All secrets must be known before anything is masked: the same secret may occur earlier in the recording.
  masks.learn(recording['contexts']);
  for (const [, text] of written) masks.learn(readOutput(text));
  const secretBindings = bindingsOfSecrets(recording['config']);
  const contexts = (recording['contexts'] as Recording['contexts']).map((context) =>
    withHiddenResults(context, secretBindings, masks),
  );
  const masked = masks.data({ ...recording, contexts }) as Readonly<Record<string, unknown>>;
  const maskedOutputs = written.map(([name, text]) => [name, maskedOutput(text, masks)] as const);
  return {
    version,
    at,
    ...masked,
    ...(outputs !== undefined && { outputs: Object.fromEntries(maskedOutputs) }),
  };
}

function wants({ hooks }: RecordWishes, hook: string): boolean {
  return hooks.length === 0 || hooks.includes(hook);
}

/** Names of the kubernetes bindings that watch Secrets. */
function bindingsOfSecrets(config: unknown): ReadonlySet<string> {
  const bindings = isObject(config) ? config['kubernetes'] : [];
  return new Set(
    (Array.isArray(bindings) ? bindings : []).flatMap((binding: unknown) => {
      if (!isObject(binding) || !isObject(binding['watch'])) return [];
      const { kind } = binding['watch'];
      return /^secrets?$/i.test(String(kind)) ? [String(binding['name'])] : [];
    }),
  );
}

/** Filter results of Secrets are secret as a whole if the Secret itself is not in the contexts. */
function withHiddenResults(
  context: Readonly<Record<string, unknown>>,
  secretBindings: ReadonlySet<string>,
  masks: SecretMasks,
): Readonly<Record<string, unknown>> {
  const hide = (item: unknown): unknown =>
    isObject(item) && 'filterResult' in item && item['object'] === undefined
      ? { ...item, filterResult: masks.hidden(item['filterResult']) }
      : item;
  const hideAll = (items: unknown): unknown => (Array.isArray(items) ? items.map(hide) : items);
  const { snapshots, objects } = context;
  const own = secretBindings.has(String(context['binding'])) ? (hide(context) as typeof context) : context;
  return {
    ...own,
    ...(objects !== undefined && {
      objects: secretBindings.has(String(context['binding'])) ? hideAll(objects) : objects,
    }),
    ...(isObject(snapshots) && {
      snapshots: Object.fromEntries(
        Object.entries(snapshots).map(([name, items]) => [
          name,
          secretBindings.has(name) ? hideAll(items) : items,
        ]),
      ),
    }),
  };
}
