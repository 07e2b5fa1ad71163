import { readableLine } from '@addon-operator/base/escape-controls';
import { followStream, type StreamEvent } from '@addon-operator/http-server/stream-client';
import { fieldsOf, textOf } from '@addon-operator/json';
import type { CliHost } from './cli-host.ts';
import { harmless } from './harmless.ts';
import { titleOf } from './run-tables.ts';
import { listOf } from './tables.ts';

/** Between two connections to an operator that restarts. */
const RECONNECT_MS = 1_000;
const PATH = '/api/v1/stream?topics=queues,modules,runs';

/**
 * Prints events of the operator, one line each, and returns the exit code. A connection that ends is opened again, and goes
 * on behind the last event.
 *
 * @param format `isJson`: JSON lines `{"event", "data"}`. `isWatch`: go on after the last runs, until the process is to stop
 */
export async function followEvents(
  socketPath: string,
  format: { readonly isJson: boolean; readonly isWatch: boolean },
  host: CliHost,
): Promise<number> {
  const stop = host.stopSignal();
  const end = new AbortController();
  const signal = AbortSignal.any([stop, end.signal]);
  const onEvent = (event: StreamEvent): void => {
    const line = format.isJson ? JSON.stringify(event) : lineOf(event);
    // A line of text may hold several lines: the runs of a snapshot.
    if (line !== '') host.stdout.write(`${host.stdout.isTTY === true ? shown(line, format.isJson) : line}\n`);
    if (event.event === 'ready' && !format.isWatch) end.abort();
  };
  let lastEventId = await followStream({ socketPath, path: PATH }, signal, onEvent);
  while (!signal.aborted) {
    await host.clock.sleep(RECONNECT_MS, signal).catch(() => undefined);
    const request = { socketPath, path: PATH, lastEventId };
    lastEventId = await followStream(request, signal, onEvent).catch(() => lastEventId);
  }
  return 0;
}

function shown(text: string, isJson: boolean): string {
  return isJson ? harmless(text) : harmless(text).split('\n').map(readableLine).join('\n');
}

function lineOf({ event, data }: StreamEvent): string {
  const fields = fieldsOf(data);
  switch (event) {
    case 'snapshot':
      return listOf(fieldsOf(fields['data'])['runs']).toReversed().map(runLine).join('\n');
    case 'run':
      return runLine(fields);
    case 'queue':
      return `queue ${textOf(fields['name'])}: ${String(fields['length'])} tasks, ${textOf(fieldsOf(fields['status'])['type'])}`;
    case 'module': {
      const why = textOf(fields['lastError']) || textOf(fields['waitsFor']);
      return `module ${textOf(fields['module'])}: ${textOf(fields['status'])}${why === '' ? '' : `: ${why}`}`;
    }
    default:
      return '';
  }
}

function runLine(run: Readonly<Record<string, unknown>>): string {
  const error = textOf(run['error']);
  const at = textOf(run['endedAt']) || textOf(run['startedAt']);
  return `${at} run ${textOf(run['id'])}: ${titleOf(run)} ${textOf(run['result'])}${error === '' ? '' : `: ${error}`}`;
}
