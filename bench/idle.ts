import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { FaultProxy } from '../test/support/fault-proxy.ts';
import type { World } from '../test/support/world.ts';
import { note, report, sum } from './figures.ts';
import { childrenOf, cpuMs } from './process-time.ts';

const SETTLE_MS = 5_000;
const MEASURE_MS = 60_000;

/** A minute of a daemon with nothing to do, as a process of its own: CPU with its helpers, and requests. */
export async function benchIdle(world: World, modules: number, url: string): Promise<void> {
  await using proxy = await FaultProxy.start({ serverUrl: url });
  const kubeconfig = join(world.directory, 'proxied-kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  await using daemon = DaemonProcess.start(world, { 'kube-config': kubeconfig, 'log-level': 'info' });
  await daemon.untilConverged();
  await sleep(SETTLE_MS);
  const pids = [daemon.pid, ...childrenOf(daemon.pid)];
  const used = (): number => sum(pids.map(cpuMs));
  const [usedBefore, callsBefore] = [used(), proxy.calls.length];
  await sleep(MEASURE_MS);
  const usedMs = used() - usedBefore;
  const requests = proxy.calls.slice(callsBefore);
  report(
    `idle daemon with ${modules} modules, CPU in a minute`,
    `${usedMs.toFixed(0)} ms`,
    `${MEASURE_MS} ms`,
    usedMs / MEASURE_MS,
    '< 0.005',
  );
  const polls = requests.filter(({ verb, path }) => verb !== 'watch' && !path.includes('/leases'));
  note(`  requests: ${requests.length}, of them neither watch nor lease: ${polls.length}, aim 0`);
  for (const { verb, path } of polls) note(`    ${verb} ${path}`);
}
