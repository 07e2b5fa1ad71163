import { join } from 'node:path';
import { execa } from 'execa';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend } from '../../support/world.ts';
import { writeTree } from '../../support/world-files.ts';
import { exampleDirectory } from '../example-world.ts';
import { expectNamespaceLines } from './102-monitor-namespaces.ts';
import { cataloguePath, DirectoryCopy, hookSetWorld, requireTools } from './catalogue-world.ts';

const NAME = '201-install-with-helm-chart';

export function installWithHelmChartTests(backend: () => Backend): void {
  test(
    '201-install-with-helm-chart: the hook works from a mounted ConfigMap',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash', 'jq');
      await using volume = await DirectoryCopy.of(cataloguePath(NAME, 'hooks'));
      const root = join(volume.path, 'mounted');
      await writeTree(root, {
        '..2026_01_02/hook.sh': await hookOfChart(backend().helmPath),
        '..data': { link: '..2026_01_02' },
        'hook.sh': { link: '..data/hook.sh' },
      });
      const modules = exampleDirectory('catalogue/102-monitor-namespaces', 'modules');
      await using world = await hookSetWorld(backend(), NAME, {
        directories: { globalHooks: root, modules },
      });
      await world.converge();
      expect(world.log.printed.slice(0, 2)).toEqual([
        'Got Synchronization event for OnCreateDeleteNamespace',
        'Got Synchronization event for OnModifiedNamespace',
      ]);
      await expectNamespaceLines(world);
      const runs = world.log.records.filter(({ output }) => output === 'stdout');
      expect(new Set(runs.map(({ hook }) => hook))).toEqual(new Set(['hook.sh']));
    },
  );
}

/** What the ConfigMap of the chart holds under `hook.sh`, which is what the kubelet would put into the volume. */
async function hookOfChart(helmPath: string): Promise<string> {
  const { stdout } = await execa(helmPath, ['template', 'example', cataloguePath(NAME)]);
  const objects = loadAll(stdout) as readonly { kind: string; data?: Record<string, string> }[];
  const kinds = objects.map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining(['ConfigMap', 'Deployment', 'ServiceAccount', 'ClusterRoleBinding']),
  );
  return objects.find(({ kind }) => kind === 'ConfigMap')?.data?.['hook.sh'] ?? '';
}
