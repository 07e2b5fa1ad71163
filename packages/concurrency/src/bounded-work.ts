import PQueue from 'p-queue';

/**
 * The result of `map` for each item, in the order of the items, with at most `limit` calls at a time, at least one. After a failure no further
 * call is made.
 *
 * @throws the failure of the first item that failed, once all calls have ended
 */
export async function mapParallel<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  if (items.length === 0) return [];
  const queue = new PQueue({ concurrency: limit });
  queue.addEventListener('error', () => queue.clear());
  const results = await Promise.allSettled(items.map((item) => queue.add(() => map(item))));
  return results.map((result) => {
    // Calls begin in the order of the items, so the first failure is never one of the calls that were cleared.
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Acts when the queue has a place. The place is taken until the act has ended, also after an abort: the option `signal` of
 * p-queue would free it at once, while a process that was asked to stop still ends.
 *
 * @throws `signal.reason` when the signal aborts before there is a place; the act is not started then
 */
export async function runInPlace<T>(queue: PQueue, act: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const waiting = new AbortController();
  const leave = (): void => waiting.abort(signal.reason);
  const started = (): void => signal.removeEventListener('abort', leave);
  signal.addEventListener('abort', leave, { once: true });
  const begin = (): Promise<T> => {
    started();
    return act();
  };
  return await queue.add(begin, { signal: waiting.signal }).finally(started);
}
