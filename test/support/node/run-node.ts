// `npm run node -- start`: a cluster of one node with the operator and the starter modules in it, until Ctrl-C.
import { once } from 'node:events';
import { join } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { findNodeParts } from './global-setup.ts';
import { reasonAgainstNode } from './node-programs.ts';
import { startNode } from './node-suite.ts';
import { PodOperator, RELEASE } from './pod-operator.ts';

const ROOT = join(import.meta.dirname, '../../..');

async function start(): Promise<void> {
  const onProgress = (message: string): void => console.log(`node: ${message}`);
  const reason = await reasonAgainstNode(process.env);
  if (reason !== undefined) throw new Error(reason);
  const stop = new AbortController();
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const parts = await findNodeParts({ env: process.env, onProgress }, stop.signal);
  onProgress('starting the node');
  const shared = await startNode(parts);
  await using node = shared.node;
  onProgress('installing the operator with the starter modules');
  const operator = await PodOperator.install(shared, {
    name: 'addon-operator',
    modulesDir: join(ROOT, 'modules'),
    globalHooksDir: join(ROOT, 'global-hooks'),
  });
  console.log(`
The operator is ready in the namespace ${operator.namespace}:

  export KUBECONFIG=${node.kubeconfigPath}
  kubectl --namespace ${operator.namespace} logs deploy/${RELEASE} --follow

Logs of the node are in ${join(node.directory, 'log')}. Ctrl-C ends it, and nothing of it is left.`);
  await stopped;
  onProgress('stopping');
}

if (process.argv[2] === 'start') {
  try {
    await start();
    process.exit(0);
  } catch (error) {
    console.error(`node: ${messageOf(error)}`);
    process.exit(1);
  }
}
console.error('usage: npm run node -- start');
process.exitCode = 2;
