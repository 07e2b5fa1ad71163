import { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from '@addon-operator/base/errors';
import { type Logger, loggerOf } from '@addon-operator/base/log';
import type { OutputLine, RunFacts } from '@addon-operator/hook-test';
import { parseJson } from '@addon-operator/json';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import { contextText } from '../../hooks/context-document.ts';
import { isFinal, isNotYet } from '../../hooks/retry-errors.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import { parseMetricOperations } from '../../metrics/metric-operation.ts';
import type { HookExecution } from '../../operator/hook-execution.ts';

/** A hook may print without end. */
const MAX_LINES = 10_000;

interface Record {
  readonly output: OutputLine[];
  contexts: readonly unknown[];
  operations: readonly unknown[];
  metrics: readonly unknown[];
}

/** Records what goes in and out of each run of a hook, of several at the same time too. */
export class RunRecords {
  readonly #current = new AsyncLocalStorage<Record>();
  #runs: RunFacts[] = [];

  /** The runs that ended since the last call. */
  take(): readonly RunFacts[] {
    const runs = this.#runs;
    this.#runs = [];
    return runs;
  }

  /** Comes between the operator and the hook. */
  readonly tap = (runs: HookRuns): HookRuns => ({
    run: async (hook, inputs, log, signal) => {
      const bindingContext = await contextText(inputs.bindingContext);
      const record = this.#current.getStore();
      if (record !== undefined) record.contexts = parseJson(bindingContext) as readonly unknown[];
      const result = await runs.run(hook, { ...inputs, bindingContext }, log, signal);
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
        const record: Record = { output: [], contexts: [], operations: [], metrics: [] };
        const log = outputLog((line) => {
          if (record.output.length < MAX_LINES) record.output.push(line);
        });
        return this.#current.run(record, async () => {
          try {
            const effects = await execution.run(run, queue, log, signal, onContexts);
            this.#runs.push({ binding: run.binding, ...record });
            return effects;
          } catch (error) {
            const failure = { failure: messageOf(error), ...verdictOf(error) };
            this.#runs.push({ binding: run.binding, ...record, ...failure });
            throw error;
          }
        });
      },
    };
  }
}

function verdictOf(error: unknown): Pick<RunFacts, 'verdict'> {
  if (isNotYet(error)) return { verdict: 'temporary' };
  return isFinal(error) ? { verdict: 'permanent' } : {};
}

/** What was written may be broken: then the run fails, and says so. */
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

/** Takes what a hook prints out of the log of its run. */
function outputLog(onLine: (line: OutputLine) => void, stream?: OutputLine['stream']): Logger {
  return loggerOf(
    (level, _fields, text) => {
      if (stream !== undefined) onLine({ stream, level, text });
    },
    ({ output }) => outputLog(onLine, output === 'stdout' || output === 'stderr' ? output : stream),
  );
}
