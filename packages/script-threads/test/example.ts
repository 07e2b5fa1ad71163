import { fileURLToPath } from 'node:url';
import { systemClock } from '@addon-operator/base/clock';
import { whyNot } from '@addon-operator/script-threads/script-worker';
import { WorkerPools } from '@addon-operator/script-threads/worker-pools';

const pools = new WorkerPools({
  clock: systemClock,
  env: {},
  cwd: '/',
  heapLimitBytes: 64 * 1024 * 1024,
  ownDirectories: [fileURLToPath(new URL('../src/', import.meta.url))],
  onStrayLine: (line) => console.log(`past the thread: ${line}`),
  onSharedFailure: (path, reason) => console.log(`${path} is repeated alone: ${reason}`),
});
const never = new AbortController().signal;
const path = fileURLToPath(new URL('count-orders.ts', import.meta.url));
const program = new URL('orders-thread.ts', import.meta.url).href;
const work = { timeoutMs: 5_000, onOutput: ({ text }: { text: string }) => console.log(text.trimEnd()) };

const loaded = await pools.load({ path, program }, work, never);
console.log(loaded.type === 'ready' ? loaded.description : whyNot(loaded, work.timeoutMs));

for (const orders of ['[5,7]', '[]', '[1,2,3]']) {
  const request = { type: 'run', inputs: { orders }, keptInputs: { tax: '19 %' } } as const;
  const limit = orders === '[1,2,3]' ? 100 : work.timeoutMs;
  const response = await pools.do(path, request, { ...work, timeoutMs: limit }, never);
  if (response.type === 'done') console.log(`total: ${response.outputs['total']}`);
  else console.log(whyNot(response, limit).replace(/ \(at .*\/(.*)\)/, ' (at $1)'));
}
await pools.stop('the example ends');
