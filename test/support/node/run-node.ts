// `npm run node -- start`: a cluster of one node with the operator and the starter modules in it, until Ctrl-C.
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { findNodeParts } from './global-setup.ts';
import { reasonAgainstNode } from './node-programs.ts';
import { startNode } from './node-suite.ts';
import { PodOperator, RELEASE } from './pod-operator.ts';
import type { TestNode } from './test-node.ts';

/** npm passes a Ctrl-C on that the terminal has sent to all processes. */
const SAME_SIGNAL_MS = 500;
const ROOT = join(import.meta.dirname, '../../..');

async function start(signal: AbortSignal): Promise<void> {
  const onProgress = (message: string): void => console.log(`node: ${message}`);
  const reason = await reasonAgainstNode(process.env);
  if (reason !== undefined) throw new Error(reason);
  const parts = await findNodeParts({ env: process.env, onProgress }, signal);
  onProgress('starting the node');
  const shared = await startNode(parts, signal);
  await using node = shared.node;
  signal.throwIfAborted();
  onProgress('installing the operator with the starter modules');
  const stopped = once(signal, 'abort');
  const installed = PodOperator.install(shared, {
    name: 'addon-operator',
    modulesDir: join(ROOT, 'modules'),
    globalHooksDir: join(ROOT, 'global-hooks'),
  });
  await Promise.race([installed, stopped]);
  if (!signal.aborted) {
    console.log(instructions(node, await installed));
    await stopped;
  }
  onProgress('stopping');
}

function instructions(node: TestNode, { namespace }: PodOperator): string {
  return `
The operator is ready in the namespace ${namespace}:

  export KUBECONFIG=${node.kubeconfigPath}
  kubectl --namespace ${namespace} logs deploy/${RELEASE} --follow
  kubectl --namespace ${namespace} exec deploy/${RELEASE} -- addon-operator module list

Logs of the node are in ${join(node.directory, 'log')}. Ctrl-C ends it, and nothing of it is left.`;
}

if (process.argv[2] === 'start') {
  const stop = new AbortController();
  let stoppedMs: number | undefined;
  const onSignal = (): void => {
    const nowMs = systemClock.steadyMs();
    stoppedMs ??= nowMs;
    stop.abort();
    // A second one ends this process at once: its guard removes the node.
    if (nowMs - stoppedMs > SAME_SIGNAL_MS) process.exit(1);
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  try {
    await start(stop.signal);
    process.exit(0);
  } catch (error) {
    if (stop.signal.aborted) process.exit(0);
    console.error(`node: ${messageOf(error)}`);
    process.exit(1);
  }
}
console.error('usage: npm run node -- start');
process.exitCode = 2;
