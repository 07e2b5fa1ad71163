import { defineHook } from '@addon-operator/sdk';
import { testHook } from '@addon-operator/sdk/testing';

const hook = defineHook(
  {
    kubernetes: [{ name: 'nodes', kind: 'Node', jqFilter: '.metadata.name' }],
    schedule: [{ name: 'hourly', crontab: '@hourly', includeSnapshotsFrom: ['nodes'] }],
  },
  ({ contexts, values, metrics, log }) => {
    for (const context of contexts) {
      if (context.binding !== 'hourly') continue;
      const count = context.snapshots.nodes.length;
      values.set('web.replicas', count);
      metrics.set('nodes', count);
      log.info('nodes counted', { count });
    }
  },
);

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };
const nodes = [{ object: node, filterResult: 'a' }];
const outcome = await testHook(hook, {
  contexts: [{ binding: 'hourly', type: 'Schedule', snapshots: { nodes } }],
});
console.log(outcome.values);
console.log(outcome.metrics);
console.log(outcome.log);
