import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { startSandbox } from '@addon-operator/kube-sandbox';

const [, , directory = ''] = process.argv;
const sandbox = await startSandbox(
  { directory, clock: systemClock, log: silentLogger },
  new AbortController().signal,
);
console.log(sandbox.url);
