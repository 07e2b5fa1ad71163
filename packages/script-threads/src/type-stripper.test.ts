import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { serveStripper } from './type-stripper.ts';

const LOADER = new URL('./type-stripper.ts', import.meta.url).href;

/** Loads each file by the hook under test, and posts what it got; a file that it left to Node is `left to Node`. */
const LOADING = `
  const { workerData, parentPort } = require('node:worker_threads');
  import(workerData.loader).then(({ strippingLoad }) => {
    const load = strippingLoad(workerData.stripper);
    const next = () => ({ source: 'left to Node' });
    parentPort.postMessage(workerData.urls.map((url) => load(url, {}, next).source));
  });
`;
/** Wakes whoever waits at the signal, all the time, for nothing. */
const WAKING = `
  const view = new Int32Array(require('node:worker_threads').workerData);
  for (;;) Atomics.notify(view, 0);
`;

test('a worker that is woken too early still gets the text of the file it requested', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'stripper-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const urls = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const file = path.join(directory, `${index}.ts`);
      await writeFile(file, `export const n: number = ${index};\n`);
      return pathToFileURL(file).href;
    }),
  );
  const stripper = serveStripper();
  const waking = new Worker(WAKING, { eval: true, workerData: stripper.signal });
  onTestFinished(async () => void (await waking.terminate()));
  const loading = new Worker(LOADING, {
    eval: true,
    workerData: { loader: LOADER, stripper, urls },
    transferList: [stripper.port],
  });
  onTestFinished(async () => void (await loading.terminate()));
  const [sources] = (await once(loading, 'message')) as [readonly string[]];
  expect(sources).toEqual(urls.map((_, index) => `export const n         = ${index};\n`));
});
