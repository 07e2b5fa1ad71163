import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { Json } from '@addon-operator/json';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { dumpYaml } from '@addon-operator/yaml';
import {
  fullNameOf,
  type Recording,
  receiveRecordings,
  testFileOf,
  writeRecording,
} from '../../recordings/hook-recordings.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';

export interface HookRecordOptions {
  readonly hooks: readonly string[];
  readonly directory: string;
  /** Absent: 20, or without end if `for` is given or runs were kept. */
  readonly runs?: string;
  readonly for?: string;
  /** File for a test of the last run. */
  readonly asTest?: string;
  readonly hasSecrets: boolean;
  /** The runs that failed and were kept, in place of those that come. */
  readonly isFailed: boolean;
}

const DEFAULT_RUNS = 20;

/** Records runs of a running operator, or writes those that it has kept, one file each, and returns the exit code. */
export async function hookRecordCommand(
  socketPath: string,
  options: HookRecordOptions,
  host: CliHost,
): Promise<number> {
  const { hooks, hasSecrets, isFailed } = options;
  if (isFailed) refuseLimits(options);
  const { maxRuns, limitMs } = limitsOf(options);
  const directory = resolve(host.cwd, options.directory);
  const testFile = options.asTest === undefined ? undefined : resolve(host.cwd, options.asTest);
  if (testFile !== undefined) await refuseExisting(testFile);
  if (hasSecrets) host.stderr.write('The recordings will contain secrets: keep them from others\n');
  const ended = new AbortController();
  const signal = AbortSignal.any([host.stopSignal(), ended.signal]);
  if (limitMs !== undefined)
    host.clock.sleep(limitMs, signal).then(
      () => ended.abort(),
      () => undefined,
    );
  let count = 0;
  let last: Recording | undefined;
  try {
    const request = { socketPath, path: '/hook/record', hooks, hasSecrets, isFailed };
    for await (const line of receiveRecordings(request, signal)) {
      if (line.type === 'ready' && !isFailed)
        host.stdout.write(`recording runs of ${harmless(hooks.join(', ')) || 'all hooks'}; Ctrl-C ends it\n`);
      if (line.type === 'skipped') host.stderr.write(`not recorded: ${harmless(line.reason)}\n`);
      if (line.type !== 'recording') continue;
      last = line.recording;
      const path = await writeRecording(directory, last, count + 1);
      count += 1;
      host.stdout.write(
        `${harmless(`${relative(host.cwd, path)}: ${fullNameOf(last)} for ${last.binding}`)}\n`,
      );
      if (count >= maxRuns) break;
    }
  } finally {
    ended.abort();
    host.stdout.write(
      `${count} ${count === 1 ? 'run' : 'runs'} recorded in ${harmless(options.directory)}\n`,
    );
  }
  if (testFile !== undefined) await writeTest(testFile, last, host);
  return 0;
}

function refuseLimits({ runs, for: duration, hasSecrets }: HookRecordOptions): void {
  const given = [
    runs !== undefined && '--runs',
    duration !== undefined && '--for',
    hasSecrets && '--with-secrets',
  ];
  const option = given.find((each) => each !== false);
  if (option !== undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      `--failed and ${option} cannot be used together: runs that failed are kept masked, up to the number of --record-failed of the operator`,
    );
}

function limitsOf({ runs, for: duration, isFailed }: HookRecordOptions): {
  readonly maxRuns: number;
  readonly limitMs: number | undefined;
} {
  if (runs !== undefined && !/^[1-9]\d{0,8}$/.test(runs))
    throw new OperatorError('CONFIG_INVALID', `--runs must be a whole number from 1 on, not "${runs}"`);
  const limitMs = duration === undefined ? undefined : parseGoDuration(duration);
  if (duration !== undefined && limitMs === undefined)
    throw new OperatorError('CONFIG_INVALID', `--for must be a duration such as 10m, not "${duration}"`);
  const fallback = limitMs === undefined && !isFailed ? DEFAULT_RUNS : Number.POSITIVE_INFINITY;
  return { maxRuns: runs === undefined ? fallback : Number(runs), limitMs };
}

async function refuseExisting(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new OperatorError('CONFIG_INVALID', `--as-test: ${file} exists: choose another name`);
}

async function writeTest(file: string, recording: Recording | undefined, host: CliHost): Promise<void> {
  if (recording === undefined)
    throw new OperatorError('CONFIG_INVALID', '--as-test: no run was recorded, so there is no test');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, dumpYaml(testFileOf(recording) as Json, 2), { flag: 'wx', mode: 0o600 });
  host.stdout.write(`${harmless(relative(host.cwd, file))} tests the last run: run it with hook test\n`);
}
