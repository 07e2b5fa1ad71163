import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { silentLogger } from '@addon-operator/base/log';
import { Redactor } from '@addon-operator/masking/redactor';
import { expect, test } from 'vitest';
import { startProbes } from './start-probes.ts';

const notAsked = (): never => {
  throw new Error('not asked');
};
const view = { readiness: notAsked, convergeStatus: notAsked, status: notAsked };

test('a port that another program has taken is an error, unless any port will do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await using running = new AsyncDisposableStack();
  running.defer(() => void other.close());
  const start = (host: { readonly onPortInUse?: (port: number) => void }) =>
    startProbes(
      {
        settings: { listenAddress: '127.0.0.1', listenPort: port },
        host: { log: silentLogger, ...host },
        metrics: { scrape: () => Promise.resolve('') },
        hookMetrics: { scrape: () => '' },
        redactor: new Redactor(),
        running,
      },
      view,
    );
  await expect(start({})).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`);
  const inUse: number[] = [];
  expect((await start({ onPortInUse: (taken) => inUse.push(taken) })).port).not.toBe(port);
  expect(inUse).toEqual([port]);
});
