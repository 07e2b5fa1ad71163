/**
 * The connection to the operator: one stream of server-sent events for all pages, read with `fetch` because
 * `EventSource` cannot send the token. Events change the signal `live` through the pure `afterEvents` (`live-state.ts`).
 * After an interruption it reconnects with the id of the last event, with back-off and jitter. A hidden tab closes its
 * stream. A silent connection counts as dead after two and a half heartbeats, since a proxy may keep it open.
 */

import { EventStreamParser, type StreamEvent } from '@addon-operator/http-server/event-stream';
import { computed, signal } from '@preact/signals';
import { ApiError, request } from './api.ts';
import { noteServerTime } from './clock.ts';
import { afterEvents, EMPTY_STATE } from './live-state.ts';
import type { StandbyResponse } from './responses.ts';
import { isOfStandby, signInMode, token } from './site.ts';

/**
 * `hidden`: the tab is in the background, so nothing is sent to it. `refused`: the visitor is not signed in, or may not read.
 * `standby`: the replica does not lead.
 */
export type LinkState = 'connecting' | 'live' | 'away' | 'hidden' | 'refused' | 'standby';

/** The state from the stream. It is replaced with each batch of events. */
export const live = signal(EMPTY_STATE);
/** The state of the connection, for the banner and for pages without data. */
export const link = signal<LinkState>('connecting');
/** Why there is no connection. */
export const linkProblem = signal('');
/** The status of the response that ended the connection; 0 without one. */
export const linkStatus = signal(0);
/** The replica, while it is a standby. */
export const standby = signal<StandbyResponse | undefined>(undefined);
/** Different after each change; what is not in the stream is read again then. */
export const changes = signal(0);

/** Whether all snapshots have arrived. */
export const isReady = computed(() => live.value.isReady);

/** Delays between two connections, before jitter. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;
/** Between two questions to a standby whether it leads. */
const STANDBY_DELAY_MS = 3_000;
/** Heartbeats that may be missing before the connection counts as dead. */
const MISSED_BEATS = 2.5;
const DEFAULT_BEAT_MS = 15_000;

/** Kept over connections: the server sends only newer events if it still has them. */
let lastEventId = '';
/** The interval of heartbeats, as the server says it. */
let beatMs = DEFAULT_BEAT_MS;

/** Follows the operator for as long as the page is open; a hidden tab closes its stream. */
export async function followOperator(): Promise<never> {
  let delayMs = FIRST_DELAY_MS;
  while (true) {
    // A page that is seen begins at once, before it is drawn for the first time.
    if (document.hidden) await untilVisible();
    const ended = new AbortController();
    const hide = (): void => {
      if (document.hidden) ended.abort();
    };
    document.addEventListener('visibilitychange', hide);
    // A pasted token takes effect at once.
    const unsubscribe = token.subscribe(onChangeOnly(() => ended.abort()));
    let isResponded = false;
    try {
      await readStream(ended, () => {
        isResponded = true;
      });
    } catch (error) {
      note(error, ended.signal.aborted && document.hidden);
    }
    document.removeEventListener('visibilitychange', hide);
    // A connection that worked ends the back-off.
    if (isResponded) delayMs = FIRST_DELAY_MS;
    if (link.value === 'standby') delayMs = STANDBY_DELAY_MS;
    if (link.value === 'refused') await tokenChange();
    else if (!document.hidden) await pause(delayMs * (0.75 + Math.random() / 2));
    unsubscribe();
    delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2);
  }
}

/** Reads one connection to its end. @throws ApiError when it is refused or breaks */
async function readStream(ended: AbortController, onResponse: () => void): Promise<void> {
  if (token.value === '' && !isOfStandby && signInMode !== 'proxy') throw new ApiError(401, '', '');
  const headers: Record<string, string> = lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId };
  const response = await request('stream', { headers, signal: ended.signal });
  if (response.body === null) return;
  const parser = new EventStreamParser();
  const decoder = new TextDecoder();
  let watchdog = setTimeout(() => ended.abort(), beatMs * MISSED_BEATS);
  let waiting: readonly StreamEvent[] = [];
  let isGreeted = false;
  try {
    for await (const bytes of chunksOf(response.body)) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => ended.abort(), beatMs * MISSED_BEATS);
      onResponse();
      waiting = [...waiting, ...parser.push(decoder.decode(bytes, { stream: true }))];
      // What comes first takes several reads, and is drawn once, when all of it is there.
      isGreeted ||= waiting.some(({ event }) => event === 'ready');
      if (!isGreeted) continue;
      take(waiting);
      waiting = [];
    }
    throw new ApiError(0, '', 'the connection was closed');
  } finally {
    clearTimeout(watchdog);
  }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Applies events in one batch, so that components are rendered once. */
function take(events: readonly StreamEvent[]): void {
  if (events.length === 0) return;
  const hello = events.find(({ event }) => event === 'hello');
  if (hello !== undefined) {
    const { heartbeatMs, at } = JSON.parse(hello.data) as { heartbeatMs?: number; at: string };
    beatMs = heartbeatMs ?? DEFAULT_BEAT_MS;
    noteServerTime(at);
  }
  live.value = afterEvents(live.value, events);
  lastEventId = events.at(-1)?.id || lastEventId;
  standby.value = undefined;
  if (live.value.isReady) link.value = 'live';
  linkProblem.value = '';
  linkStatus.value = 0;
  changes.value += 1;
}

/** Derives the state of the link from the error that ended a connection. */
function note(error: unknown, isHidden: boolean): void {
  if (isHidden) {
    link.value = 'hidden';
    return;
  }
  const { status, standby: found } = error instanceof ApiError ? error : new ApiError(0, '', '');
  // A standby that ends is still what the page was about.
  if (status !== 0) standby.value = found;
  if (found !== undefined) link.value = 'standby';
  else link.value = isRefusal(status) ? 'refused' : 'away';
  linkStatus.value = status;
  linkProblem.value = error instanceof ApiError ? error.message : 'the operator sends nothing';
}

/** Not signed in, not allowed, or too many failed sign-ins: only the visitor can change that. */
function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 429;
}

/** A request beside the stream has found that the sign-in has ended. */
export function noteSignedOut({ status, message }: ApiError): void {
  link.value = 'refused';
  linkStatus.value = status;
  linkProblem.value = message;
}

/** Signals call a subscriber at once with the present value, which is no change. */
function onChangeOnly(action: () => void): () => void {
  let isFirst = true;
  return () => {
    if (!isFirst) action();
    isFirst = false;
  };
}

async function untilVisible(): Promise<void> {
  await new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, { once: true });
  });
}

/** Without another token every request would be refused again. */
async function tokenChange(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = token.subscribe(onChangeOnly(resolve));
  await promise;
  unsubscribe();
  link.value = 'connecting';
}

/** Ends early when the network returns or the tab is shown or hidden. */
async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
    addEventListener('online', resolve, { once: true });
    document.addEventListener('visibilitychange', resolve, { once: true });
  });
}
