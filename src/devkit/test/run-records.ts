import { AsyncLocalStorage } from 'node:async_hooks';
import { statSync } from 'node:fs';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { type LogFields, type Logger, loggerOf } from '@addon-operator/base/log';
import { parseJson } from '@addon-operator/json';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import type { HookExecution } from '../../hook-runs/hook-execution.ts';
import { contextText } from '../../hooks/context-document.ts';
import { isFinal, isNotYet } from '../../hooks/retry-errors.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import { parseMetricOperations } from '../../metrics/metric-operation.ts';
import type { ObservedRun, OutputLine } from '../../tools/hook-test/hook-test.ts';

/** Of what is kept for comparisons and failures. */
const MAX_LINES = 10_000;
/** A hook that prints more does so without end, or tests of it are of no use. */
const MAX_PRINTED_LINES = 500_000;
const MAX_PRINTED_CHARACTERS = 10 * 1024 * 1024;

interface Record {
  readonly output: OutputLine[];
  readonly problems: string[];
  contexts: readonly unknown[];
  operations: readonly unknown[];
  metrics: readonly unknown[];
}

interface StartedRun {
  /** Undefined until it ends. */
  facts: ObservedRun | undefined;
}

/** Records what goes in and out of each run of a hook, of several at the same time too. */
export class RunRecords {
  readonly #current = new AsyncLocalStorage<Record>();
  /** In the order in which they started, so that a step with runs at the same time comes out the same each time. */
  #started: StartedRun[] = [];

  /** The runs that ended since the last call, those first that started first. */
  take(): readonly ObservedRun[] {
    const runs = this.#started.flatMap(({ facts }) => facts ?? []);
    this.#started = this.#started.filter(({ facts }) => facts === undefined);
    return runs;
  }

  /** Comes between the operator and the hook. */
  readonly tap = (runs: HookRuns): HookRuns => ({
    run: async (hook, inputs, log, signal) => {
      const bindingContext = await contextText(inputs.bindingContext);
      const record = this.#current.getStore();
      if (record !== undefined) record.contexts = parseJson(bindingContext) as readonly unknown[];
      const before = fileMark(hook.path);
      const result = await runs.run(hook, { ...inputs, bindingContext }, log, signal);
      if (fileMark(hook.path) !== before)
        throw new OperatorError('HOOK_FAILED', `the file of the hook was changed while it ran: ${hook.path}`);
      if (record !== undefined) {
        record.operations = documentsIn(result.outputs.kubernetesPatch);
        record.metrics = metricsIn(result.outputs.metrics);
      }
      return result;
    },
  });

  /** The same execution, whose runs are recorded. */
  around(execution: HookExecution): Pick<HookExecution, 'run'> {
    return {
      run: (run, queue, _log, signal, onContexts) => {
        const record: Record = { output: [], problems: [], contexts: [], operations: [], metrics: [] };
        const started: StartedRun = { facts: undefined };
        this.#started.push(started);
        const endless = new AbortController();
        const log = runLog(record, (error) => endless.abort(error));
        return this.#current.run(record, async () => {
          try {
            const ends = AbortSignal.any([signal, endless.signal]);
            const effects = await execution.run(run, queue, log, ends, onContexts);
            started.facts = { binding: run.binding, ...record };
            return effects;
          } catch (thrown) {
            const error: unknown = endless.signal.aborted ? endless.signal.reason : thrown;
            const failure = { failure: messageOf(error), ...verdictOf(error) };
            started.facts = { binding: run.binding, ...record, ...failure };
            throw error;
          }
        });
      },
    };
  }
}

function verdictOf(error: unknown): Pick<ObservedRun, 'verdict'> {
  if (isNotYet(error)) return { verdict: 'temporary' };
  return isFinal(error) ? { verdict: 'permanent' } : {};
}

/** The documents in an output. It may be broken: then the run fails, and says so. */
function documentsIn(text: string): readonly unknown[] {
  try {
    return [...yamlDocuments(text)].flatMap((document) => {
      const { value } = parseYaml(document.text, { source: 'KUBERNETES_PATCH_PATH', booleans: 'yaml-1.1' });
      return value === null ? [] : [value];
    });
  } catch {
    return [];
  }
}

function metricsIn(text: string): readonly unknown[] {
  try {
    return parseMetricOperations(text).operations;
  } catch {
    return [];
  }
}

/** Changes with the file; empty for one that is not there. */
function fileMark(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeNs].join(' ');
}

/** @param end called when the hook prints too much */
function runLog(record: Record, end: (error: OperatorError) => void): Logger {
  let lines = 0;
  let characters = 0;
  return outputLog(
    (line) => {
      lines += 1;
      characters += line.text.length + 1;
      if (record.output.length < MAX_LINES) record.output.push(line);
      const limit =
        (lines > MAX_PRINTED_LINES && `${MAX_PRINTED_LINES} lines`) ||
        (characters > MAX_PRINTED_CHARACTERS && '10 MiB');
      if (limit !== false)
        end(new OperatorError('HOOK_FAILED', `the hook was ended, because it printed more than ${limit}`));
    },
    ({ count, processes, truncatedBytes, limitBytes }) => {
      if (truncatedBytes !== undefined)
        record.problems.push(`the hook printed more than ${String(limitBytes)} bytes (--hook-output-limit)`);
      if (typeof count !== 'number' || !Array.isArray(processes)) return;
      const names = (processes as readonly { readonly pid: number; readonly command: string }[]).map(
        ({ pid, command }) => `${command} (pid ${pid})`,
      );
      record.problems.push(
        `the hook left ${count === 1 ? 'a process' : `${count} processes`} outside of its process group, which ${count === 1 ? 'was' : 'were'} ended: ${names.join(', ')}`,
      );
    },
  );
}

/**
 * Takes what a hook prints out of the log of its run.
 *
 * @param onWarning gets the facts of other warnings
 */
function outputLog(
  onLine: (line: OutputLine) => void,
  onWarning: (fields: LogFields) => void,
  stream?: OutputLine['stream'],
): Logger {
  return loggerOf(
    (level, fields, text) => {
      if (stream !== undefined) onLine({ stream, level, text });
      else if (level === 'warn') onWarning(fields);
    },
    ({ output }) =>
      outputLog(onLine, onWarning, output === 'stdout' || output === 'stderr' ? output : stream),
  );
}
