import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryClient } from './memory-client.ts';
import { type ObjectChange, type Sandbox, startSandbox } from './sandbox.ts';
import { machineClock } from './sandbox-clock.ts';
import { silentLog } from './sandbox-log.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const never = new AbortController().signal;

/** Counts what the client reports. */
class Counter {
  touches = 0;
  underWay = 0;

  touch(): void {
    this.touches += 1;
  }

  begin(): () => void {
    this.underWay += 1;
    return () => {
      this.underWay -= 1;
    };
  }
}

let sandbox: Sandbox;
let writers: (string | undefined)[];
let activity: Counter;
let client: MemoryClient;

beforeEach(async () => {
  writers = [];
  const onChange = ({ userAgent }: ObjectChange): number => writers.push(userAgent);
  sandbox = await startSandbox({ clock: machineClock, log: silentLog, onChange }, never);
  activity = new Counter();
  client = new MemoryClient(sandbox, activity, 'test');
});

afterEach(async () => await sandbox.stop());

async function create(name: string): Promise<unknown> {
  return await client.request({ method: 'POST', path: PATH, body: { metadata: { name } } }, never);
}

async function watch(signal: AbortSignal): Promise<AsyncIterator<string>> {
  const query = { watch: 'true', fieldSelector: 'metadata.name=colors' };
  return (await client.stream({ method: 'GET', path: PATH, query }, signal))[Symbol.asyncIterator]();
}

test('a request returns the parsed body, is counted, and names its client', async () => {
  await expect(create('colors')).resolves.toMatchObject({ kind: 'ConfigMap', metadata: { name: 'colors' } });
  expect(activity.touches).toBe(1);
  expect(writers).toEqual(['test']);
});

test('a refused request throws as a client over HTTP does', async () => {
  await expect(client.request({ method: 'GET', path: `${PATH}/none` }, never)).rejects.toMatchObject({
    status: 404,
    message: `The API server refused GET ${PATH}/none: 404 NotFound: configmaps "none" not found`,
  });
});

test('a line of a watch is under way until its reader takes the next one', async () => {
  const stop = new AbortController();
  const lines = await watch(stop.signal);
  const first = lines.next();
  await create('colors');
  expect(activity.underWay).toBe(1);
  const { value } = (await first) as IteratorYieldResult<string>;
  expect(JSON.parse(value)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'colors' } } });
  expect(activity.underWay).toBe(1);
  const next = lines.next();
  expect(activity.underWay).toBe(0);
  stop.abort(new Error('stopped'));
  await expect(next).rejects.toThrow('stopped');
});

test('lines that are not read count no longer when the reader leaves', async () => {
  const lines = await watch(never);
  const first = lines.next();
  await create('colors');
  await first;
  await client.request({ method: 'DELETE', path: `${PATH}/colors` }, never);
  expect(activity.underWay).toBe(2);
  await lines.return?.();
  expect(activity.underWay).toBe(0);
});

test('a watch is no request, and a request is no watch', async () => {
  const path = PATH;
  await expect(client.request({ method: 'GET', path, query: { watch: 'true' } }, never)).rejects.toThrow(
    `GET ${path} is a watch`,
  );
  await expect(client.stream({ method: 'GET', path }, never)).rejects.toThrow(`GET ${path} is no watch`);
});
