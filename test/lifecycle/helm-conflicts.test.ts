import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';
import { type FileTree, under } from '../support/world-files.ts';

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: {{ .Values.web.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:{{ .Values.web.tag }}"}]
`;
const OVERWRITTEN = 'overwriting fields that were set by other field managers';
const FAILED = 'ModuleRun failed. Requeue task to retry after delay.';
const CONFLICT = { field: '.spec.replicas', manager: 'somebody' };

function web(manifest: string): FileTree {
  return {
    'values.yaml': 'webEnabled: true\nweb: {replicas: 2, tag: "1"}\n',
    ...under('001-web', {
      'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'module.yaml': manifest,
      'templates/deployment.yaml': DEPLOYMENT,
    }),
  };
}

async function helmOf(major: 3 | 4): Promise<string> {
  const cacheDir = cacheDirectory(process.env, homedir());
  return await pinnedHelm(major, { cacheDir }, new AbortController().signal);
}

async function start(backend: Backend, manifest: string, major: 3 | 4): Promise<World> {
  const helm = await helmOf(major);
  const world = await World.create(backend, { modules: web(manifest), flags: { 'helm-bin-path': helm } });
  await world.converge();
  return world;
}

function path(world: World): string {
  return `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`;
}

/** Another client scales the Deployment. */
async function scale(world: World, replicas: number): Promise<void> {
  await world.expect({
    method: 'PATCH',
    path: `${path(world)}?fieldManager=somebody`,
    body: { spec: { replicas } },
    contentType: 'application/merge-patch+json',
  });
}

async function replicas(world: World): Promise<number> {
  return ((await world.expect({ path: path(world) })) as { spec: { replicas: number } }).spec.replicas;
}

describeLifecycle((backend) => {
  test('what helm 3 has set is no conflict for helm 4', async () => {
    await using world = await World.create(backend(), { modules: web('conflicts: fail\n'), config: {} });
    await world.converge();
    await world.stop();
    await world.write('modules', { '../helm': `#!/bin/sh\nexec '${await helmOf(4)}' "$@"\n` });
    await world.putConfig({ web: 'replicas: 3' });
    await world.converge();
    expect(await replicas(world)).toBe(3);
  });

  test('an upgrade with helm 4 logs the fields of others that it overwrites, once', async () => {
    await using world = await start(backend(), '', 4);
    await scale(world, 5);
    await world.putConfig({ web: 'tag: "2"' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await replicas(world)).toBe(2);
    await world.putConfig({ web: 'tag: "3"' });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    const reported = world.log.records.filter(({ msg }) => msg === OVERWRITTEN);
    expect(reported).toMatchObject([{ release: 'web', resource: '/Deployment/web', conflicts: [CONFLICT] }]);
  });

  test.each([4, 3] as const)(
    'a module with "conflicts: fail" applies nothing over fields of others, with helm %i',
    async (major) => {
      await using world = await start(backend(), 'conflicts: fail\n', major);
      await scale(world, 5);
      await world.putConfig({ web: 'tag: "2"' });
      await world.log.untilMessage(FAILED);
      expect(world.log.records.find(({ msg }) => msg === FAILED)?.['error']).toContain(
        'Cannot deploy release "web": other field managers changed fields that its chart sets (/Deployment/web: .spec.replicas (somebody))',
      );
      expect(await replicas(world)).toBe(5);
      await scale(world, 2);
      world.clock.jump(60_000);
      await world.log.untilMessage('ModuleRun success, module is ready', 2);
      expect(await world.expect({ path: path(world) })).toMatchObject({
        spec: { template: { spec: { containers: [{ image: 'web:2' }] } } },
      });
    },
  );
});
