import { defineHook } from 'addon-operator/sdk';

export default defineHook(
  {
    onStartup: 1,
    beforeHelm: 1,
    kubernetes: [
      {
        name: 'pods',
        apiVersion: 'v1',
        kind: 'Pod',
        jqFilter: '{name: .metadata.name, phase: .status.phase}',
        keepFullObjectsInMemory: false,
      },
    ],
    schedule: [{ name: 'every 5 sec', crontab: '*/5 * * * * *', includeSnapshotsFrom: ['pods'] }],
  },
  (input) => {
    for (const context of input.contexts) {
      input.metrics.add('addon_go_hooks_total', 1, { binding: context.binding });
      if (context.type === 'Event') input.log.info('Pod changed', { pod: context.filterResult });
      if (context.type !== 'Schedule') continue;
      input.log.info('Pods in the snapshot', { count: context.snapshots.pods.length });
      const time = new Date().toISOString();
      input.configValues.set('moduleGoHooks.time', time);
      input.values.set('moduleGoHooks.timeTemp', time);
    }
  },
);
