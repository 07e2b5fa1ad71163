import { followStream, type ReceivedEvent } from '@addon-operator/http-server/stream-client';
import { fieldsOf, type Json, stringOf } from '@addon-operator/json';
import { readableLine } from '@addon-operator/strings/escape-controls';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { listOf } from '../output/tables.ts';
import { recordedRunTitle } from './run-tables.ts';

/** Between two connections to an operator that restarts. */
const RECONNECT_MS = 1_000;
const PATH = '/api/v1/stream?topics=queues,modules,runs';

export interface EventsOptions {
  readonly format: OutputFormat;
  readonly isWatch: boolean;
  readonly about?: string | undefined;
}

/** An event as it is printed, without the end of its last line; empty for one that says nothing in this format. */
type Print = (event: ReceivedEvent) => string;

/**
 * Prints events of the operator and returns the exit code. A connection that ends is opened again, and goes on behind the
 * last event.
 *
 * @param options `format`: tables and text are one line for each event, JSON is lines of `{"event", "data"}`, YAML a document
 *   for each event, and names are such as `run/12`, `queue/main` and `module/web`. `isWatch`: go on after the last runs, until
 *   the process is to stop. `about`: only events about the module, hook or queue of this name; absent: all
 */
export async function followEvents(
  socketPath: string,
  { format, isWatch, about }: EventsOptions,
  host: CliHost,
): Promise<number> {
  const print = await printOf(format);
  const isData = format === 'json' || format === 'yaml';
  const stop = host.stopSignal();
  const end = new AbortController();
  const signal = AbortSignal.any([stop, end.signal]);
  const onEvent = (event: ReceivedEvent): void => {
    const chosen = about === undefined ? event : eventAbout(event, about);
    const text = chosen === undefined ? '' : print(chosen);
    if (text !== '') host.stdout.write(`${host.stdout.isTTY === true ? shown(text, isData) : text}\n`);
    if (event.event === 'ready' && !isWatch) end.abort();
  };
  let lastEventId = await followStream({ socketPath, path: PATH }, signal, onEvent);
  while (!signal.aborted) {
    await host.clock.sleep(RECONNECT_MS, signal).catch(() => undefined);
    const request = { socketPath, path: PATH, lastEventId };
    lastEventId = await followStream(request, signal, onEvent).catch(() => lastEventId);
  }
  return 0;
}

async function printOf(format: OutputFormat): Promise<Print> {
  switch (format) {
    case 'json':
      return (event) => JSON.stringify(event);
    case 'yaml': {
      const { dumpYaml } = await import('@addon-operator/yaml');
      return (event) => `---\n${dumpYaml({ ...event } as unknown as Json, 2).trimEnd()}`;
    }
    case 'name':
      return nameOf;
    case 'table':
    case 'wide':
    case 'text':
      return eventLine;
  }
}

function shown(text: string, isData: boolean): string {
  return isData ? harmless(text) : harmless(text).split('\n').map(readableLine).join('\n');
}

function nameOf({ event, data }: ReceivedEvent): string {
  const fields = fieldsOf(data);
  const [kind = ''] = event.split('-');
  switch (kind) {
    case 'snapshot':
      return runsOf(fields)
        .map(({ id }) => `run/${stringOf(id)}`)
        .join('\n');
    case 'run':
      return `run/${stringOf(fields['id'])}`;
    case 'queue':
      return `queue/${stringOf(fields['name'])}`;
    case 'module':
      return `module/${stringOf(fields['module'])}`;
    default:
      return '';
  }
}

/** One line for people; empty for an event that says nothing to them. */
export function eventLine({ event, data }: ReceivedEvent): string {
  const fields = fieldsOf(data);
  switch (event) {
    case 'snapshot':
      return runsOf(fields).map(runLine).join('\n');
    case 'run':
      return runLine(fields);
    case 'queue':
      return queueLine(fields);
    case 'module': {
      const why =
        ['lastError', 'heldUpBy', 'waitsFor'].map((name) => stringOf(fields[name])).find(Boolean) ?? '';
      return `module ${stringOf(fields['module'])}: ${stringOf(fields['status'])}${why === '' ? '' : `: ${why}`}`;
    }
    default:
      return '';
  }
}

/** Queues for parallel modules come and go with each converge, and say something only while they have tasks. */
function queueLine(queue: Readonly<Record<string, unknown>>): string {
  const name = stringOf(queue['name']);
  if (queue['length'] === 0) return name.startsWith('parallel_queue_') ? '' : `queue ${name}: empty`;
  const tasks = queue['length'] === 1 ? '1 task' : `${String(queue['length'])} tasks`;
  return `queue ${name}: ${tasks}, ${stringOf(fieldsOf(queue['status'])['type'])}`;
}

/** The event without what is not about a name; undefined if nothing is left. */
function eventAbout({ event, data }: ReceivedEvent, name: string): ReceivedEvent | undefined {
  const isAbout = (fields: Readonly<Record<string, unknown>>): boolean => {
    const { module, hook } = fields;
    const hookName = `${stringOf(module)}/${stringOf(hook)}`;
    return [module, hook, hookName, fields['queue'], fields['name']].includes(name);
  };
  const fields = fieldsOf(data);
  if (event !== 'snapshot') return isAbout(fields) ? { event, data } : undefined;
  const lists = Object.entries(fieldsOf(fields['data'])).map(([key, list]) => [
    key,
    Array.isArray(list) ? listOf(list).filter(isAbout) : list,
  ]);
  return { event, data: { ...fields, data: Object.fromEntries(lists) } };
}

/** Of a snapshot, the oldest first. */
function runsOf(snapshot: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return listOf(fieldsOf(snapshot['data'])['runs']).toReversed();
}

function runLine(run: Readonly<Record<string, unknown>>): string {
  const error = stringOf(run['error']);
  const at = stringOf(run['endedAt']) || stringOf(run['startedAt']);
  return `${at} run ${stringOf(run['id'])}: ${recordedRunTitle(run)} ${stringOf(run['result'])}${error === '' ? '' : `: ${error}`}`;
}
