import { followStream, type ReceivedEvent } from '@addon-operator/http-server/stream-client';
import { fieldsOf, parseJson, stringOf } from '@addon-operator/json';
import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, fail, failWith } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { type Paint, paintFor, wantsColor } from '../output/paint.ts';
import { listOf } from '../output/tables.ts';
import { terminalLines } from '../output/terminal-log.ts';
import { durationText, recordedRunTitle } from './run-tables.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface LogsOptions {
  readonly module: string;
  /** How many runs at most: a number from 1 to 500. */
  readonly limit: string;
  /** Continue with the log of the operator until the process is to stop. */
  readonly isFollowing: boolean;
}

const MAX_RUNS = 500;
/** Between two connections to an operator that restarts. */
const RECONNECT_MS = 1_000;
const STREAM = '/api/v1/stream?topics=log';

/**
 * Prints what the runs of a module printed, as the journal has it, and why they failed, the oldest first. Returns the exit
 * code: 1 for an unknown module.
 *
 * @throws OperatorError DEBUG_SOCKET when there is no response in time
 */
export async function printLogs(socketPath: string, options: LogsOptions, host: CliHost): Promise<number> {
  const { module, isFollowing } = options;
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RUNS)
    return fail(host, `--limit must be a number from 1 to ${MAX_RUNS}`, 'CONFIG_INVALID');
  const read = async (path: string) => await requestDebug({ socketPath, path: `/api/v1${path}` }, host.clock);
  const name = encodeURIComponent(module);
  const known = await read(`/modules/${name}`);
  if (known.status !== 200) return failWith(host, known.body, known.code);
  const list = await read(`/runs?module=${name}&limit=${MAX_RUNS}`);
  if (list.status !== 200) return failWith(host, list.body, list.code);
  const paint = paintFor(wantsColor(host.stdout.isTTY === true, host.env));
  const runs = toldRuns(listOf(fieldsOf(parseJson(list.body))['runs']), limit);
  // Not in the output, which a script may read.
  if (runs.length === 0)
    host.stderr.write(`no known run of module ${harmless(module)} printed anything or failed\n`);
  for (const { id } of runs) {
    const run = await read(`/runs/${stringOf(id)}`);
    // The journal forgets the oldest runs while they are read.
    if (run.status === 200) host.stdout.write(runText(fieldsOf(parseJson(run.body)), paint));
  }
  if (isFollowing) await followLog(socketPath, module, host, paint);
  return 0;
}

/** The newest runs that printed something or failed, the oldest first. The error of a hook is that of its module run too. */
function toldRuns(runs: readonly Fields[], limit: number): readonly Fields[] {
  const parents = new Set(runs.filter(({ error }) => error !== '').map(({ parent }) => parent));
  return runs
    .filter(({ id, error, outputLength }) => outputLength !== 0 || (error !== '' && !parents.has(id)))
    .slice(0, limit)
    .toReversed();
}

function runText(run: Fields, paint: Paint): string {
  const { head, cut, tail } = fieldsOf(run['output']);
  const result = stringOf(run['result']);
  const style = { success: 'green', failed: 'red' } as const;
  const left = typeof cut === 'number' && cut > 0 ? `\n… ${cut} characters …\n` : '';
  const output = `${stringOf(head)}${left}${stringOf(tail)}`;
  const error = stringOf(run['error']);
  const title = [`run ${stringOf(run['id'])}`, stringOf(run['startedAt']), recordedRunTitle(run)].join('  ');
  const painted = paint(result === 'success' ? style.success : style.failed, result);
  const lines = [
    `${paint('bold', harmless(title))}  ${painted}  ${durationText(run['durationMs'])}`,
    ...(output === '' ? [] : [harmless(output.trimEnd())]),
    ...(error === '' ? [] : [paint('red', `error: ${harmless(error.trimEnd())}`)]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** Prints each record of the log that has the module, over restarts of the operator. */
async function followLog(socketPath: string, module: string, host: CliHost, paint: Paint): Promise<void> {
  const stop = host.stopSignal();
  const onEvent = ({ event, data }: ReceivedEvent): void => {
    if (event !== 'log') return;
    for (const { time, level, message, fields } of listOf(fieldsOf(data)['lines'])) {
      const record = { ...fieldsOf(fields), time, level, msg: message };
      if (fieldsOf(fields)['module'] === module)
        host.stdout.write(terminalLines(JSON.stringify(record), paint));
    }
  };
  while (!stop.aborted) {
    await followStream({ socketPath, path: STREAM }, stop, onEvent).catch(() => undefined);
    await host.clock.sleep(RECONNECT_MS, stop).catch(() => undefined);
  }
}
