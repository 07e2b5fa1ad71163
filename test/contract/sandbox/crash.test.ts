import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'sandbox-process.ts');

let directory = '';
let child: ChildProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-crash-'));
});

afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** Starts a sandbox in a process of its own; resolves to its address. */
async function start(): Promise<string> {
  const started = spawn(process.execPath, [PROGRAM, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) return line;
  throw new Error('the sandbox ended without a word');
}

async function kill(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  child?.once('exit', () => resolve());
  child?.kill('SIGKILL');
  await promise;
}

/** Creates ConfigMaps side by side until the server is gone; resolves to the names that were acknowledged. */
async function createUntilKilled(url: string, prefix: string, killAfter: number): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  const writer = async (worker: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const name = `${prefix}-${worker}-${count}`;
      const body = JSON.stringify({ metadata: { name }, data: { text: 'x'.repeat(2000) } });
      const headers = { 'content-type': 'application/json' };
      const path = `${url}/api/v1/namespaces/default/configmaps`;
      const response = await fetch(path, { method: 'POST', headers, body }).catch(() => undefined);
      if (response?.status !== 201) return;
      acknowledged.push(name);
      if (acknowledged.length === killAfter) await kill();
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  return acknowledged;
}

async function namesAt(url: string): Promise<ReadonlySet<string>> {
  const response = await fetch(`${url}/api/v1/namespaces/default/configmaps`);
  const list = (await response.json()) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return new Set(list.items.map(({ metadata }) => metadata.name));
}

test('kill -9 during writes loses no acknowledged write, repeatedly', async () => {
  const acknowledged: string[] = [];
  for (const round of [0, 1, 2]) {
    const url = await start();
    acknowledged.push(...(await createUntilKilled(url, `round-${round}`, 50 + round * 37)));
    const names = await namesAt(await start());
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    await kill();
  }
  expect(acknowledged.length).toBeGreaterThan(200);
});
