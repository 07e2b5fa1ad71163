import { truncate } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, type FileTree } from '../support/world-files.ts';

const MIB = 1024 * 1024;

const CHART: FileTree = {
  'values.yaml': 'webEnabled: true\n',
  '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
  '001-web/templates/map.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {conf: {{ .Files.Get "config/a.conf" | quote }}, hook: {{ .Files.Get "hooks/hook.sh" | len | quote }}}
`,
  '001-web/config/a.conf': 'port 80',
  '001-web/images/web/Dockerfile': 'FROM scratch\n',
  '001-web/images/web/data': 'x',
  '001-web/docs/README.md': '# Web\n',
  '001-web/crds/README.md': 'none\n',
  '001-web/hooks/hook.sh': announcer('web', { beforeHelm: 1 }),
  '001-web/hooks/lib/program': 'x',
};

/** Paths of the files that a record has beside templates. */
async function recordedFiles(world: World, revision: number): Promise<readonly string[]> {
  const secret = (await world.get('secrets', `sh.helm.release.v1.web.v${revision}`)) ?? {};
  const { release } = secret['data'] as { readonly release: string };
  const packed = Buffer.from(Buffer.from(release, 'base64').toString(), 'base64');
  const record = JSON.parse(gunzipSync(packed).toString()) as {
    readonly chart: { readonly files: readonly { readonly name: string }[] | null };
  };
  return (record.chart.files ?? []).map(({ name }) => name).toSorted();
}

describeLifecycle((backend) => {
  test('a module with large files that no template reads deploys, and its record has only files that are read', async () => {
    await using world = await World.create(backend(), { modules: CHART, config: {} });
    const directory = `${world.directory}/modules/001-web`;
    await truncate(`${directory}/images/web/data`, 2 * MIB);
    await truncate(`${directory}/hooks/lib/program`, 60 * MIB);
    await world.converge();
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { conf: 'port 80' } });
    expect(await recordedFiles(world, 1)).toEqual(['config/a.conf', 'hooks/hook.sh']);
    expect((await runInWorld(world, 'module', 'render', 'web')).stdout).toContain('conf: "port 80"');
  });

  test('a file that no template reads changes nothing in the cluster, and one that is read does', async () => {
    await using world = await World.create(backend(), { modules: CHART, config: {} });
    await world.converge();
    await world.stop();
    const helmRuns = (await world.helmCalls()).length;
    await world.write('modules', { '001-web/docs/README.md': '# The web\n' });
    await world.converge();
    expect(await world.helmCalls()).toHaveLength(helmRuns);
    await world.stop();
    await world.write('modules', { '001-web/config/a.conf': 'port 81' });
    await world.converge();
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { conf: 'port 81' } });
    expect(await recordedFiles(world, 2)).toEqual(['config/a.conf', 'hooks/hook.sh']);
  });
});
