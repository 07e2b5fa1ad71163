import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { FaultProxy } from '../test/support/fault-proxy.ts';
import type { World } from '../test/support/world.ts';
import { bareNodeMb } from './bare-node.ts';
import { note, report, sum } from './figures.ts';
import { childrenOf, cpuMs, rssMb } from './process-usage.ts';
import { SentRequests } from './sent-requests.ts';

/** What the aim for the memory is for. */
const FEW_MODULES = 20;
const SETTLE_MS = 5_000;
const MEASURE_MS = 60_000;
/** In this time each module has been looked at once. */
const LOOK_MS = 330_000;
/** A look is over when nothing was asked for so long. */
const QUIET_MS = 2_000;

/**
 * A daemon with nothing to do, and what it asks the API server for. The daemon of the world is down, before and after.
 */
export async function benchIdle(world: World, modules: number, url: string): Promise<void> {
  await benchMinute(world, modules, url);
  await benchLook(world, modules);
}

/** A minute of a process of its own: CPU and memory with its helpers, and requests. The daemon of the world is down. */
export async function benchMinute(world: World, modules: number, url: string): Promise<void> {
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
  const memoryMb = sum(pids.map(rssMb));
  report(
    `idle daemon with ${modules} modules, CPU in a minute`,
    `${usedMs.toFixed(0)} ms`,
    `${MEASURE_MS} ms`,
    usedMs / MEASURE_MS,
    '< 0.005',
  );
  const bareMb = await bareNodeMb();
  report(
    `idle daemon with ${modules} modules, memory with its helpers`,
    `${memoryMb.toFixed(0)} MB`,
    `${bareMb.toFixed(0)} MB`,
    memoryMb / bareMb,
    modules <= FEW_MODULES ? '<= 110 MB' : '-',
  );
  const polls = requests.filter(({ verb, path }) => verb !== 'watch' && !path.includes('/leases'));
  note(`  requests: ${requests.length}, of them neither watch nor lease: ${polls.length}, aim 0`);
  for (const { verb, path } of polls) note(`    ${verb} ${path}`);
}

/** One look of the monitors of all modules, which comes every five minutes; time is moved there. */
async function benchLook(world: World, modules: number): Promise<void> {
  await world.converge();
  await world.daemon.operator.router.main.untilEmpty();
  await sleep(QUIET_MS);
  using sent = new SentRequests();
  world.clock.jump(LOOK_MS);
  let before = -1;
  while (sent.all.length > before) {
    before = sent.all.length;
    await sleep(QUIET_MS);
  }
  // Watches that have heard nothing for so long are replaced: their lists name the version they know.
  const polls = sent.all.filter(({ path }) => !/watch=true|resourceVersion=|\/leases/.test(path));
  note(`  requests of a look at the releases of ${modules} modules: ${polls.length}, aim <= 30`);
  for (const { method, path } of polls) note(`    ${method} ${path}`);
  await world.stop();
}
