import { stringifyJson } from '@addon-operator/json';
import type { Send } from './api-request.ts';
import { type ListResult, listObjects } from './list-objects.ts';
import type { ObjectFilter } from './query-selectors.ts';
import { bookmarkObject, type View, viewEvent } from './representation.ts';
import type { ResourceObject } from './resource-object.ts';
import type { SandboxClock } from './sandbox-clock.ts';
import type { ObjectStore, StoreChange } from './sandbox-store.ts';
import { expired } from './status-error.ts';

export interface WatchOptions {
  readonly storage: string;
  /** Undefined for all namespaces, or a kind without. */
  readonly namespace: string | undefined;
  readonly filter: ObjectFilter;
  /** Undefined: begin with the objects that there are. */
  readonly fromRevision: number | undefined;
  /** Mark the end of the initial objects by a bookmark. */
  readonly isStreamingList: boolean;
  readonly hasBookmarks: boolean;
  readonly timeoutMs: number;
  readonly view: View;
}

const BOOKMARK_PERIOD_MS = 60_000;

type WatchEvent = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ResourceObject };

/**
 * Streams the events of one watch until the time-out, the abort, or the reader being cut off. It begins with the objects that
 * there are or with the changes after a revision, and follows the commits of the store from there; nothing is missed in
 * between, for both are taken in one step. If the store has forgotten changes after the revision, the stream is one ERROR
 * event with 410, and ends. A reader that leaves too much unread is cut off.
 */
export async function watchObjects(
  store: ObjectStore,
  clock: SandboxClock,
  options: WatchOptions,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const cutOff = new AbortController();
  let isFirst = true;
  const sendLine = (type: string, object: unknown): void => {
    if (!send(`${stringifyJson({ type, object })}\n`)) cutOff.abort();
  };
  const sendEvent = ({ type, object }: WatchEvent): void => {
    sendLine(type, viewEvent(object, options.view, isFirst));
    isFirst = false;
  };
  const sendChange = (change: StoreChange): void => {
    const event = eventOf(change, options);
    if (event !== undefined) sendEvent(event);
  };
  if (options.fromRevision === undefined) sendInitial(store, options, sendEvent, sendLine);
  else {
    const missed = store.changesSince(options.storage, options.fromRevision);
    if (missed === undefined) {
      const why = `too old resource version: ${options.fromRevision} (${store.compactedRevision + 1})`;
      sendLine('ERROR', expired(why).status);
      return;
    }
    for (const change of missed) sendChange(change);
  }
  const unsubscribe = store.subscribe(sendChange);
  try {
    await keepOpen(clock, options, AbortSignal.any([signal, cutOff.signal]), () =>
      sendLine('BOOKMARK', bookmarkObject(store.revision, options.view, false)),
    );
  } finally {
    unsubscribe();
  }
}

function sendInitial(
  store: ObjectStore,
  options: WatchOptions,
  sendEvent: (event: WatchEvent) => void,
  sendLine: (type: string, object: unknown) => void,
): void {
  for (const object of currentObjects(store, options).objects) sendEvent({ type: 'ADDED', object });
  if (options.isStreamingList) sendLine('BOOKMARK', bookmarkObject(store.revision, options.view, true));
}

function currentObjects(store: ObjectStore, { storage, namespace, filter }: WatchOptions): ListResult {
  return listObjects(store, storage, {
    namespace,
    filter,
    hasSelector: false,
    limit: 0,
    continueToken: '',
    resourceVersion: '',
    resourceVersionMatch: '',
  });
}

/** Resolves at the time-out or the abort; bookmarks in between. */
async function keepOpen(
  clock: SandboxClock,
  options: WatchOptions,
  signal: AbortSignal,
  sendBookmark: () => void,
): Promise<void> {
  const endMs = clock.steadyMs() + options.timeoutMs;
  try {
    let leftMs = options.timeoutMs;
    while (leftMs > 0) {
      // A timer may fire a moment early, so the time that is left does not show which of the two it was set for.
      const isBookmarkNext = options.hasBookmarks && leftMs > BOOKMARK_PERIOD_MS;
      await clock.sleep(isBookmarkNext ? BOOKMARK_PERIOD_MS : leftMs, signal);
      if (isBookmarkNext) sendBookmark();
      leftMs = endMs - clock.steadyMs();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The event of a change for a watcher that sees only the objects that its filter passes. */
function eventOf(change: StoreChange, options: WatchOptions): WatchEvent | undefined {
  const { storage, namespace, filter } = options;
  if (change.storage !== storage) return undefined;
  if (namespace !== undefined && !change.key.startsWith(`${namespace}/`)) return undefined;
  const { object, previous } = change;
  const wasVisible = previous !== undefined && filter(previous);
  const isVisible = change.type !== 'removed' && filter(object);
  if (isVisible) return { type: wasVisible ? 'MODIFIED' : 'ADDED', object };
  if (!wasVisible) return undefined;
  if (change.type === 'removed') return { type: 'DELETED', object };
  return {
    type: 'DELETED',
    object: { ...previous, metadata: { ...previous.metadata, resourceVersion: String(change.revision) } },
  };
}
