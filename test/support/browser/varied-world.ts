import { vi } from 'vitest';
import type { RunList } from '../../../src/journal/run-view.ts';
import type { Backend } from '../world.ts';
import { runInWorld } from '../world-command.ts';
import { configMapChart, type FileTree, shHook, under } from '../world-files.ts';
import { UiWorld } from './ui-world.ts';

const WAIT = { timeout: 60_000, interval: 200 };
const READY = shHook('beforeHelm: 1', 'echo "looked for certificates, found 3"');

const MODULES: FileTree = {
  'values.yaml':
    'certificatesEnabled: true\ndatabaseEnabled: true\nshopEnabled: true\nwebEnabled: true\nmonitoringEnabled: true\n',
  ...under('010-certificates', configMapChart('certificates', 'certificates')),
  '010-certificates/hooks/expiry.sh': shHook('schedule: [{name: expiry, crontab: "0 4 * * *"}]', ':'),
  '020-database/hooks/connect.sh': shHook(
    'beforeHelm: 1',
    'echo "no route to host db-0.database" >&2; exit 1',
  ),
  '030-shop/module.yaml': 'requires: [{name: database}]\n',
  '030-shop/hooks/ready.sh': READY,
  ...under('040-web', configMapChart('web', 'web')),
  '040-web/values.yaml': 'web: {replicas: 2, image: nginx}\n',
  '040-web/hooks/ready.sh': READY,
  '040-web/hooks/nodes.sh': shHook(
    'kubernetes: [{name: nodes, kind: Node}]',
    `echo '{"op":"add","path":"/web/zone","value":"a"}' > "$VALUES_JSON_PATCH_PATH"`,
  ),
  '050-monitoring/hooks/ready.sh': READY,
  '060-tracing/hooks/ready.sh': READY,
};

/** A world in which there is something of each kind: modules in most states, tasks that wait, failures, schedules. */
export async function variedWorld(backend: Backend): Promise<UiWorld> {
  const ui = await UiWorld.create(backend, {
    modules: MODULES,
    globalHooks: {
      'backup.sh': shHook('schedule: [{name: backup, crontab: "*/30 * * * *"}]', ':'),
      'quota.sh': shHook(
        'kubernetes: [{name: quota, kind: ConfigMap, nameSelector: {matchNames: [quota]}, queue: quota, executeHookOnSynchronization: false}]',
        'echo "quota service is not reachable" >&2; exit 1',
      ),
    },
    config: { web: 'replicas: 3\n' },
    flags: { 'module-failure-policy': 'isolate', 'module-objects': 'false' },
  });
  ui.launch();
  await ui.daemon.untilConverged();
  await ui.world.create('configmaps', { metadata: { name: 'quota' } });
  await runInWorld(
    ui.world,
    'module',
    'pause',
    'monitoring',
    '--reason',
    'disks are replaced',
    '--for',
    '3h',
  );
  await vi.waitFor(async () => {
    const { runs } = await ui.api<RunList>('runs?module=database&result=failed');
    if (runs.length < 2) throw new Error('module database was not retried');
  }, WAIT);
  return ui;
}
