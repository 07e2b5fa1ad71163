// One watch of the API server as a sequence of notices: changes, bookmarks, events that cannot be used, and
// always an end with its reason. `reflector.ts` decides what each end means for the position. A connection
// that stays silent is the most common failure (a NAT or load balancer dropped it), and TCP does not notice
// it: bookmarks come about once a minute, so 70 s without data end the watch.

import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import { hasStatus, type KubeClient } from './kube-client.ts';
import { type KubeObject, resourcePath, toKubeObject } from './kube-object.ts';
import { nearestName, selectionAccept, selectionQuery } from './reflector-list.ts';
import { keyOf, type Selection } from './reflector-sink.ts';

/** The API server sends a bookmark about every minute, also when nothing changes. */
const IDLE_LIMIT_MS = 70_000;
/** While an event is being handled, the interval at which to check whether the watch is read again. */
const BUSY_CHECK_MS = 1_000;
/**
 * 5 minutes plus up to 5 more, as client-go: the spread keeps many watches from ending at the same moment.
 */
const MIN_WATCH_SECONDS = 300;
const WATCH_SPREAD_SECONDS = 300;
/** The server ends a watch by itself; a client limit only has to be later. */
const STREAM_GRACE_SECONDS = 30;
/** A watch that ends this little before its time did not end early. */
const CLOCK_TOLERANCE_MS = 1_000;

export type WatchNotice =
  | {
      readonly type: 'change';
      readonly change: 'Added' | 'Modified' | 'Deleted';
      readonly object: KubeObject;
      readonly resourceVersion: string;
    }
  | { readonly type: 'bookmark'; readonly resourceVersion: string }
  /** An event whose object cannot be used. It is left out; later events are delivered. */
  | { readonly type: 'unusable'; readonly problem: string; readonly resourceVersion: string | undefined }
  /** Always the last one. */
  | {
      readonly type: 'end';
      readonly reason: WatchEnd;
      readonly detail: string;
      /** The error that broke the connection. */
      readonly error?: unknown;
    };

/**
 * Why a watch ended: the server closed it in good order, after the requested time, or `early`; its resource version is
 * no longer (or not yet) served; the kind is gone; no data came for 70 s; the connection broke, or a line was not a
 * watch event.
 */
export type WatchEnd = 'closed' | 'early' | 'expired' | 'gone' | 'idle' | 'broken';

interface WatchRequest {
  readonly selection: Selection;
  readonly resourceVersion: string;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

export interface WatchDeps {
  readonly kube: KubeClient;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/**
 * Watches a selection from a resource version on, for 5 to 10 minutes; the reflector calls it again and again, and lists
 * when the version is too old. A line that is not a whole event is never delivered: the watch ends there. An event that
 * is whole, but whose object cannot be used, is left out.
 *
 * @throws KubeApiError when the server refuses, other than with 404 and 410
 * @throws OperatorError KUBE_UNREACHABLE when the connection cannot be made
 * @throws `signal.reason` when the signal aborts
 */
export async function* watch(
  deps: WatchDeps,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchNotice, void> {
  const { selection } = request;
  const idle = new AbortController();
  const done = new AbortController();
  const silence = new Silence(deps.clock);
  const streamSignal = AbortSignal.any([signal, idle.signal, done.signal]);
  silence.guard(() => idle.abort(), streamSignal);
  const timeoutSeconds = MIN_WATCH_SECONDS + Math.floor(deps.random() * WATCH_SPREAD_SECONDS);
  const fullTimeMs = deps.clock.steadyMs() + timeoutSeconds * 1_000 - CLOCK_TOLERANCE_MS;
  let isOpen = false;
  try {
    const lines = await openStream(deps.kube, request, timeoutSeconds, streamSignal);
    isOpen = true;
    request.onOpen?.();
    for await (const line of lines) {
      silence.end();
      const notice = readLine(line, selection);
      yield notice;
      if (notice.type === 'end') return;
      silence.begin();
    }
    yield { type: 'end', reason: deps.clock.steadyMs() < fullTimeMs ? 'early' : 'closed', detail: '' };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (idle.signal.aborted) {
      yield { type: 'end', reason: 'idle', detail: `no data for ${IDLE_LIMIT_MS / 1_000} s` };
    } else if (hasStatus(error, 410)) {
      yield { type: 'end', reason: 'expired', detail: error.message };
    } else if (hasStatus(error, 404)) {
      yield { type: 'end', reason: 'gone', detail: error.message };
    } else if (isOpen) {
      yield { ...broken(messageOf(error)), error };
    } else {
      throw error;
    }
  } finally {
    done.abort();
  }
}

/** Opens the watch with bookmarks, which move the position on while nothing changes. */
function openStream(
  kube: KubeClient,
  { selection, resourceVersion }: WatchRequest,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  return kube.stream(
    {
      method: 'GET',
      path: resourcePath(selection.resource, selection.namespace),
      ...selectionAccept(selection, 'PartialObjectMetadata'),
      query: {
        ...selectionQuery(selection),
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(timeoutSeconds),
        resourceVersion,
      },
      timeoutMs: (timeoutSeconds + STREAM_GRACE_SECONDS) * 1_000,
    },
    signal,
  );
}

/** Measures how long no data came. Time that the caller takes to handle an event does not count. */
class Silence {
  readonly #clock: SteadyClock;
  #isListening = true;
  #sinceMs: number;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
    this.#sinceMs = clock.steadyMs();
  }

  /** The watch is read again: silence counts from now on. */
  begin(): void {
    this.#isListening = true;
    this.#sinceMs = this.#clock.steadyMs();
  }

  /** A line arrived; the time until {@link begin} is ours. */
  end(): void {
    this.#isListening = false;
  }

  /** Calls `onTooLong` once the silence has lasted 70 s. */
  guard(onTooLong: () => void, signal: AbortSignal): void {
    const wait = async (): Promise<void> => {
      for (;;) {
        const silentMs = this.#clock.steadyMs() - this.#sinceMs;
        if (this.#isListening && silentMs >= IDLE_LIMIT_MS) return onTooLong();
        await this.#clock.sleep(this.#isListening ? IDLE_LIMIT_MS - silentMs : BUSY_CHECK_MS, signal);
      }
    };
    wait().catch(() => undefined);
  }
}

/**
 * Parses one line. A line that is no event ends the watch, since what follows it cannot be trusted either.
 */
function readLine(line: string, selection: Selection): WatchNotice {
  let event: unknown;
  try {
    event = parseJson(line);
  } catch (error) {
    if (error instanceof SyntaxError) return broken('a line is not JSON');
    // The line is whole, and would be the same in the next watch.
    return unusable(`an event of ${line.length} characters cannot be read: ${messageOf(error)}`);
  }
  if (!isObject(event) || !isObject(event['object'])) return broken('a line is not a watch event');
  const { type } = event;
  if (type === 'ERROR') return readError(event['object']);
  const resourceVersion = isObject(event['object']['metadata'])
    ? event['object']['metadata']['resourceVersion']
    : undefined;
  const version = typeof resourceVersion === 'string' ? resourceVersion : undefined;
  if (type === 'BOOKMARK')
    return version === undefined
      ? broken('a bookmark has no resourceVersion')
      : { type: 'bookmark', resourceVersion: version };
  const change = CHANGES.get(type);
  const object = toKubeObject(event['object'], selection.resource);
  if (change === undefined) return broken(`an event has the unknown type ${JSON.stringify(type)}`);
  if (object === undefined)
    return unusable(`the object of an event (${nearestName(event['object'])}) has no name`, version);
  if (version === undefined)
    return unusable(`the object of an event, ${keyOf(object)}, has no resourceVersion`);
  return { type: 'change', change, object, resourceVersion: version };
}

const CHANGES: ReadonlyMap<unknown, 'Added' | 'Modified' | 'Deleted'> = new Map([
  ['ADDED', 'Added'],
  ['MODIFIED', 'Modified'],
  ['DELETED', 'Deleted'],
]);

/** An ERROR event carries a Status; 410 means that the version is too old to watch from. */
function readError(status: Record<string, unknown>): WatchNotice {
  const { code, reason, message } = status;
  const isExpired = code === 410 || reason === 'Expired' || reason === 'Gone';
  return { type: 'end', reason: isExpired ? 'expired' : 'broken', detail: String(message ?? reason ?? code) };
}

function unusable(problem: string, resourceVersion?: string): WatchNotice {
  return { type: 'unusable', problem, resourceVersion };
}

function broken(detail: string): Extract<WatchNotice, { type: 'end' }> {
  return { type: 'end', reason: 'broken', detail };
}
