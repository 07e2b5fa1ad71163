// `npm run node -- start`: a cluster of one node with the operator and the starter modules in it, until Ctrl-C.
import { once } from 'node:events';
import { join } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { findNodeParts } from './global-setup.ts';
import { reasonAgainstNode } from './node-programs.ts';
import { startNode } from './node-suite.ts';
import { PodOperator, RELEASE } from './pod-operator.ts';
import type { TestNode } from './test-node.ts';

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
  // A second one ends this process at once: its guard removes the node.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
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
