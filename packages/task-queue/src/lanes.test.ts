import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { type Lane, Lanes } from './lanes.ts';

const nothing = (): void => undefined;

/** Lanes of the queue `pods`, whose handlers run until the test ends them. */
class Lab {
  readonly lanes = new Lanes();
  readonly log: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  open(key: string, parallel = 1, queue = 'pods'): Lane {
    return this.lanes.open(queue, key, parallel, () => this.log.push(`${key} is empty`));
  }

  /** Attempts a task; after the handler the attempt waits, as after a failure. */
  attempt(lane: Lane, delay: Promise<void> = Promise.resolve()): Promise<void> {
    const end = Promise.withResolvers<void>();
    this.#ends.set(lane.key, end);
    const handle = async (name: string): Promise<void> => {
      this.log.push(`${name} runs`);
      await end.promise;
    };
    return lane.inTurn(handle, async (inPlace) => {
      await inPlace(lane.key);
      await delay;
    });
  }

  async end(key: string): Promise<void> {
    this.#ends.get(key)?.resolve();
    await settle();
  }
}

test('lanes of a queue share its places, in the order of their requests', async () => {
  const lab = new Lab();
  const attempts = ['a', 'b', 'c', 'd'].map((key) => lab.attempt(lab.open(key, 2)));
  await settle();
  expect(lab.log).toEqual(['a runs', 'b runs']);
  await lab.end('b');
  expect(lab.log).toEqual(['a runs', 'b runs', 'c runs']);
  for (const key of ['a', 'c', 'd']) await lab.end(key);
  await Promise.all(attempts);
  expect(lab.log.at(-1)).toBe('d runs');
});

test('lanes of different queues have places of their own', async () => {
  const lab = new Lab();
  void lab.attempt(lab.open('a', 1, 'pods'));
  void lab.attempt(lab.open('b', 1, 'nodes'));
  await settle();
  expect(lab.log).toEqual(['a runs', 'b runs']);
});

test('a lane frees its place when the handler ends, before the delay after a failure', async () => {
  const lab = new Lab();
  const delay = Promise.withResolvers<void>();
  const first = lab.attempt(lab.open('a'), delay.promise);
  void lab.attempt(lab.open('b'));
  await settle();
  await lab.end('a');
  expect(lab.log).toEqual(['a runs', 'b runs']);
  // The end of the attempt frees no place of another lane.
  void lab.attempt(lab.open('c'));
  delay.resolve();
  await first;
  await settle();
  expect(lab.log).toEqual(['a runs', 'b runs']);
});

test('a lane frees its place when its handler is not called, or throws', async () => {
  const lab = new Lab();
  const [idle, failing, last] = [lab.open('idle'), lab.open('failing'), lab.open('last')];
  await idle.inTurn(
    async () => undefined,
    async () => undefined,
  );
  const failure = new Error('no luck');
  const failed = failing.inTurn(
    (): Promise<void> => {
      throw failure;
    },
    (handle) => handle(),
  );
  await expect(failed).rejects.toBe(failure);
  void lab.attempt(last);
  await settle();
  expect(lab.log).toEqual(['last runs']);
});

test.each([
  ['a lane that is opened', (lab: Lab) => void lab.open('d', 3)],
  ['a new limit', (lab: Lab) => lab.lanes.setLimit('pods', 3)],
])('%s with a larger limit lets lanes that wait run at once', async (_case, raise) => {
  const lab = new Lab();
  for (const key of ['a', 'b', 'c']) void lab.attempt(lab.open(key));
  await settle();
  expect(lab.log).toEqual(['a runs']);
  raise(lab);
  await settle();
  expect(lab.log).toEqual(['a runs', 'b runs', 'c runs']);
});

test('a queue whose lanes have all ended has all of its places again', async () => {
  const lab = new Lab();
  const [a, b] = [lab.open('a', 2), lab.open('b', 2)];
  a.end();
  b.end();
  expect(lab.log).toEqual(['a is empty', 'b is empty']);
  lab.log.length = 0;
  for (const key of ['a', 'b']) void lab.attempt(lab.open(key, 1));
  await settle();
  expect(lab.log).toEqual(['a runs']);
});

test('close() ends the waits of all lanes without an attempt, and notifies their workers', async () => {
  const lab = new Lab();
  const [first, second, other] = [lab.open('a'), lab.open('b'), lab.open('c', 1, 'nodes')];
  const closed: string[] = [];
  const ignore = first.onClose(() => closed.push('a'));
  second.onClose(() => closed.push('b'));
  other.onClose(() => closed.push('c'));
  ignore();
  void lab.attempt(first);
  const waiting = lab.attempt(second);
  await settle();
  lab.lanes.close();
  await waiting;
  await lab.attempt(other);
  expect(closed).toEqual(['b', 'c']);
  expect(lab.log).toEqual(['a runs']);
});

test('ids are unique among all lanes, also those of a key that is opened again', () => {
  const lanes = new Lanes();
  const first = lanes.open('pods', 'a', 1, nothing);
  const ids = [first.nextId(), lanes.open('nodes', 'a', 1, nothing).nextId()];
  first.end();
  ids.push(lanes.open('pods', 'a', 1, nothing).nextId());
  expect(ids).toEqual([1, 2, 3]);
});
