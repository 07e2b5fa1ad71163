import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isObject } from '@addon-operator/json';
import type { BatchConfig } from '../hook-config/batch-config.ts';
import { NO_BINDINGS } from '../hook-config/hook-config.ts';
import type { Hook, HookOwner } from './hook.ts';
import type { OutputLevel } from './hook-output-log.ts';

/**
 * A batch file is one executable with several hooks, as programs of module-sdk are. It is called with `hook config` for all
 * configurations and with `hook run INDEX` for a run. What is known of this protocol is here; `load-hooks.ts` decides which
 * files are called in this way, and `run-hook.ts` runs the hooks.
 */
const MAGIC = Buffer.from('\x7fELF', 'latin1');

/** Names of global hooks that are scripts with several hooks end in this: nothing else could say so. */
const GLOBAL_BATCH = /\.batch$/u;

/** The module name of global hooks, as the original gives it. */
const GLOBAL_MODULE = 'global';

/** Whether a file is a compiled program. @returns false for a file that cannot be read */
export function isElf(path: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const start = Buffer.alloc(MAGIC.length);
    return readSync(descriptor, start, 0, start.length, 0) === start.length && start.equals(MAGIC);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Changes with the content of a file; empty for one that is not there. */
export function fileMark(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.size} ${stats.mtimeNs}`;
}

/**
 * Why a hook of a file may not be run: another file is there than the one whose configuration was read, and an index may stand
 * for another hook there. Undefined if it may.
 */
export function replacedFile({ path, batch }: Pick<Hook, 'path' | 'batch'>): string | undefined {
  if (batch?.type !== 'hook' || batch.mark === undefined || batch.mark === fileMark(path)) return undefined;
  return `${path} was replaced after its hooks were read, so that index and hook may not belong together: restart the operator, or start it with --watch-files`;
}

/** Whether the name of a global hook says that it holds several hooks. */
export function isNamedGlobalBatch(path: string): boolean {
  return GLOBAL_BATCH.test(path);
}

/**
 * Variables that programs of the SDK read in addition to the files. They log nothing at all below a level of their own,
 * panics included: these have to be seen.
 */
export function batchEnvironment(
  owner: HookOwner,
  logLevel: OutputLevel,
): Readonly<Record<'MODULE_NAME' | 'LOG_LEVEL', string>> {
  return {
    MODULE_NAME: owner.type === 'global' ? GLOBAL_MODULE : owner.module,
    LOG_LEVEL: (logLevel === 'fatal' ? 'error' : logLevel).toUpperCase(),
  };
}

/** The queue of the readiness probe: one that takes long keeps nothing else waiting. */
export function readinessQueue(owner: HookOwner): string {
  return `${owner.type === 'global' ? GLOBAL_MODULE : owner.module}-readiness`;
}

/**
 * The hooks of a file, each named by its file, its own name and its index, as the original names them.
 *
 * @param mark of the file before it was called
 */
export function hooksOfBatch(
  file: Pick<Hook, 'name' | 'path' | 'transport' | 'python'>,
  owner: HookOwner,
  { hooks, readiness, hasSettingsCheck }: BatchConfig,
  mark: string,
): readonly Hook[] {
  const { name, ...own } = file;
  const common = { ...own, owner };
  return [
    ...hooks.map((hook, index) => ({
      ...common,
      name: `${name}:${hook.name}:${index}`,
      config: hook.config,
      batch: { type: 'hook', index, mark } as const,
    })),
    // Only a module can be ready, and only a module has settings of its own.
    ...(readiness === undefined || owner.type === 'global'
      ? []
      : [
          {
            ...common,
            name: `${name}-readiness`,
            config: readiness,
            batch: { type: 'readiness' } as const,
          },
        ]),
    ...(hasSettingsCheck && owner.type === 'module'
      ? [
          {
            ...common,
            name: `${name}-settings-check`,
            config: NO_BINDINGS,
            batch: { type: 'settings-check' } as const,
          },
        ]
      : []),
  ];
}

/** The failure that such a program reports on stdout, as a sentence; undefined for any other record. */
export function failureInRecord(record: Readonly<Record<string, unknown>>): string | undefined {
  const { msg } = record;
  if (msg === 'panic recover') {
    const { error, stacktrace } = { ...record, ...fieldsIn(record['panic']) };
    return `it panicked: ${textOf(error)}${stacktrace === undefined ? '' : `\n${textOf(stacktrace)}`}`;
  }
  if (msg === 'sending output')
    return `it could not write its output ${textOf(record['path'])}: ${textOf(record['error'])}`;
  return undefined;
}

/** The output of `hook config` without log records, and the failure that one of them reports. */
export function configOutput(stdout: string): {
  readonly text: string;
  readonly failure: string | undefined;
} {
  const rest: string[] = [];
  let failure: string | undefined;
  for (const line of stdout.split('\n')) {
    const record = logRecord(line);
    if (record === undefined) rest.push(line);
    else failure ??= failureInRecord(record);
  }
  return { text: rest.join('\n'), failure };
}

function logRecord(line: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(line);
  return isObject(value) && typeof value['level'] === 'string' && typeof value['msg'] === 'string'
    ? value
    : undefined;
}

/** The message of a program that failed, which it prints as a JSON object on stderr; undefined for any other output. */
export function messageInStderr(stderr: string): string | undefined {
  return lastObject(stderr, (value) => (typeof value['message'] === 'string' ? value['message'] : undefined));
}

/** The result of a settings check. */
export interface SettingsVerdict {
  readonly isValid: boolean;
  readonly message: string;
  readonly warnings: readonly string[];
}

/** The verdict that a check of settings prints on stderr; undefined for any other output. */
export function verdictInStderr(stderr: string): SettingsVerdict | undefined {
  return lastObject(stderr, ({ valid, message, warnings }) =>
    typeof valid === 'boolean'
      ? {
          isValid: valid,
          message: typeof message === 'string' ? message : '',
          warnings: (Array.isArray(warnings) ? warnings : []).filter((text) => typeof text === 'string'),
        }
      : undefined,
  );
}

function lastObject<T>(
  output: string,
  read: (value: Readonly<Record<string, unknown>>) => T | undefined,
): T | undefined {
  for (const line of output.split('\n').toReversed()) {
    const value = jsonIn(line);
    const found = isObject(value) ? read(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function jsonIn(line: string): unknown {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function fieldsIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
