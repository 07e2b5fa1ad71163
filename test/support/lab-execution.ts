import { readFileSync, writeFileSync } from 'node:fs';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import type { ProcessRunner, ProcessSpec } from '@addon-operator/process/process-runner';
import { HookExecution } from '../../src/hook-runs/hook-execution.ts';
import { journalHookRuns } from '../../src/hook-runs/record-runs.ts';
import { HookRunner } from '../../src/hooks/run-hook.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { HookMetrics } from '../../src/metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../../src/metrics/operator-metrics.ts';
import type { DynamicFlags } from '../../src/model/dynamic-flags.ts';
import type { ModuleRegistry } from '../../src/model/module-registry.ts';
import type { ValuesOwner } from '../../src/values/module-key.ts';
import type { ValuesStore } from '../../src/values/values-store.ts';
import type { CapturedLog } from './captured-log.ts';
import type { FakeClock } from './fake-clock.ts';
import { exitCodeOf } from './hook-exit.ts';

interface Context {
  readonly binding: string;
  readonly type?: string;
  readonly groupName?: string;
  readonly [key: string]: unknown;
}

/** What one run of a hook sees and can do, in the place of a process. */
export interface HookProcess {
  readonly contexts: readonly Context[];
  /** The content of one of the input files, named by its variable. */
  readonly read: (variable: string) => unknown;
  /** Writes one of the output files, named by its variable. */
  readonly write: (variable: string, content: unknown) => void;
}

export type HookBehaviour = (hook: HookProcess) => void | Promise<void>;

/** The behaviour of a hook that fails. */
export const failing: HookBehaviour = () => {
  throw new Error('hook is broken');
};

/** The parts of the lab that runs of hooks use. */
interface ExecutionLab {
  readonly clock: FakeClock;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly log: CapturedLog;
  readonly journal: Journal;
  readonly tmpDir: string;
  readonly calls: string[];
  readonly behaviours: ReadonlyMap<string, HookBehaviour>;
}

interface ExecutionOptions {
  readonly metrics: OperatorMetrics;
  readonly registry: ModuleRegistry;
  readonly maxContextBytes: number;
  /** Notes a request to the API server, which may wait or fail. */
  readonly call: (what: string) => Promise<void>;
}

/** Runs hooks as the operator does, except that behaviours take the place of processes. */
export function labExecution(
  lab: ExecutionLab,
  { metrics, registry, maxContextBytes, call }: ExecutionOptions,
): HookExecution {
  const { clock, values, dynamicFlags, log, journal, tmpDir } = lab;
  return new HookExecution({
    clock,
    metrics,
    values,
    dynamicFlags,
    hookMetrics: new HookMetrics({
      log: log.logger,
      redact: (text) => text,
      onSeriesDropped: () => undefined,
    }),
    maxContextBytes,
    enabledModules: () => registry.enabled,
    followSecrets: async () => undefined,
    observe: journalHookRuns({ journal, clock, registry, isKept: false }),
    hookRunner: new HookRunner({
      runner: {
        run: (spec, signal) => resultOrAbort(runProcess(lab, spec), signal),
      } satisfies ProcessRunner,
      tmpDir,
      env: {},
      cwd: '/',
      timeoutMs: undefined,
      graceMs: 0,
      maxOutputBytes: undefined,
      onEscaped: () => undefined,
      logLevel: () => 'info',
      keepFiles: false,
    }),
    objectPatcher: {
      serves: async () => await Promise.resolve(false),
      apply: async (operations) => {
        await call(`patch ${operations.map(({ operation }) => operation).join(',')}`);
      },
    },
    configMap: {
      save: async (owner: ValuesOwner, operations) => {
        await call(`save ${owner}`);
        return values.patchedConfig(owner, operations);
      },
    },
  });
}

async function runProcess({ calls, behaviours }: ExecutionLab, spec: ProcessSpec) {
  const contexts = JSON.parse(
    readFileSync(spec.env['BINDING_CONTEXT_PATH'] ?? '', 'utf8'),
  ) as HookProcess['contexts'];
  const hook = spec.file.slice(1);
  calls.push(`${hook} ${contexts.map(wordFor).join('+')}`);
  const usage = { userCpuMs: 30, systemCpuMs: 10, maxRssBytes: 1_024 };
  const outcome = { isStdoutTruncated: false, stdout: '', durationMs: 0, usage };
  try {
    await behaviours.get(hook)?.({
      contexts,
      read: (variable) => JSON.parse(readFileSync(spec.env[variable] ?? '', 'utf8')) as unknown,
      write: (variable, content) => {
        writeFileSync(spec.env[variable] ?? '', JSON.stringify(content));
      },
    });
    return { ...outcome, stderr: '', outcome: { type: 'exited', exitCode: 0 } as const };
  } catch (error) {
    const stderr = error instanceof Error ? error.message : '';
    return { ...outcome, stderr, outcome: { type: 'exited', exitCode: exitCodeOf(error) } as const };
  }
}

/** `beforeHelm`, `Event:pods`, `Group:g` and so on. */
function wordFor({ binding, type, groupName }: Context): string {
  return type === undefined ? binding : `${type}:${groupName ?? binding}`;
}
