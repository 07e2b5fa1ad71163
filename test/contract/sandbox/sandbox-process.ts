import { startSandbox } from '@addon-operator/kube-sandbox';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/log.ts';

const [, , directory = ''] = process.argv;
const sandbox = await startSandbox(
  { directory, clock: systemClock, log: silentLogger },
  new AbortController().signal,
);
console.log(sandbox.url);
