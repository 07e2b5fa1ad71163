import { systemClock } from '@addon-operator/base/clock';
import { expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { type FileTree, under } from '../support/world-files.ts';

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: web:1
          resources: {limits: {cpu: 1000m}}
          volumeMounts: [{name: files, mountPath: /files}]
      volumes: [{name: files, secret: {secretName: web, defaultMode: 0644}}]
`;
const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: secret-word}
`;

/** Chart files of module web, with what its module.yaml says about drift. */
function web(drift: string): FileTree {
  return {
    'values.yaml': 'webEnabled: true\n',
    ...under('001-web', {
      'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'module.yaml': `drift: ${drift}\n`,
      'templates/deployment.yaml': DEPLOYMENT,
      'templates/secret.yaml': SECRET,
    }),
  };
}

interface Live {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly generation: number };
  readonly spec: { readonly replicas: number };
}

function path(world: World): string {
  return `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`;
}

async function deployment(world: World): Promise<Live> {
  return (await world.expect({ path: path(world) })) as Live;
}

/** Another client changes the Deployment. */
async function edit(world: World, patch: object, manager = 'somebody'): Promise<void> {
  await world.expect({
    method: 'PATCH',
    path: `${path(world)}?fieldManager=${manager}`,
    body: patch,
    contentType: 'application/merge-patch+json',
  });
}

const BACK = 'object is corrected to what helm applied';
const CHANGED = 'object differs from what helm applied';

function said(world: World, message: string): readonly Record<string, unknown>[] {
  return world.log.records.filter(({ msg }) => msg === message);
}

async function ask(world: World, url: string, form?: Readonly<Record<string, string>>) {
  const socketPath = `${world.directory}/debug.socket`;
  return await requestDebug({ socketPath, path: url, ...(form === undefined ? {} : { form }) }, systemClock);
}

async function drift(world: World): Promise<unknown> {
  const { body } = await ask(world, '/module/web/explain.json');
  return (JSON.parse(body) as Record<string, unknown>)['drift'];
}

async function metrics(world: World): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
}

const WAIT = { timeout: 60_000, interval: 100 };

describeLifecycle((backend) => {
  test('a workload that is scaled to zero is reverted without helm, and the log names the field manager', async () => {
    await using world = await World.create(backend(), { modules: web('{mode: heal}') });
    await world.converge();
    const calls = (await world.helmCalls()).length;
    await edit(world, { spec: { replicas: 0 } });
    await world.log.untilMessage(BACK);
    expect((await deployment(world)).spec.replicas).toBe(2);
    const resource = '/Deployment/web';
    expect(said(world, CHANGED)).toMatchObject([
      { module: 'web', resource, fields: ['/spec/replicas'], changedBy: ['somebody'] },
    ]);
    expect(await metrics(world)).toContain(
      `modules_drifted_resources_total{module="web",resource="${resource}"} 1\n`,
    );
    expect(await metrics(world)).toContain(
      `modules_healed_resources_total{module="web",resource="${resource}"} 1\n`,
    );
    expect(await metrics(world)).toContain('module_drifted_resources{module="web"} 0\n');
    expect(await drift(world)).toEqual({ mode: 'heal', objects: [] });
    expect((await world.helmCalls()).length).toBe(calls);
  });

  test('with mode warn a change is logged, also after a restart, and not reverted, until it is corrected', async () => {
    await using world = await World.create(backend(), {
      modules: web('{}'),
      flags: { 'drift-mode': 'warn' },
    });
    await world.converge();
    await edit(world, { spec: { replicas: 0 }, metadata: { labels: { app: null } } });
    await world.log.untilMessage(CHANGED);
    await world.stop();
    await world.converge();
    await world.log.untilMessage(CHANGED, 2);
    expect(await drift(world)).toMatchObject({
      mode: 'warn',
      objects: [
        {
          resource: '/Deployment/web',
          fields: ['/metadata/labels/app', '/spec/replicas'],
          changedBy: ['somebody'],
          outlook: 'it is not corrected',
        },
      ],
    });
    expect((await ask(world, '/module/web/explain.text')).body).toContain(
      '/metadata/labels/app, /spec/replicas by somebody',
    );
    expect(await metrics(world)).toContain('module_drifted_resources{module="web"} 1\n');
    expect((await deployment(world)).spec.replicas).toBe(0);
    await edit(world, { spec: { replicas: 2 }, metadata: { labels: { app: 'web' } } });
    await world.log.untilMessage('object matches what helm applied again');
    expect(await drift(world)).toEqual({ mode: 'warn', objects: [] });
  });

  test('an ignored field is neither logged nor reverted, not even when another field is reverted', async () => {
    await using world = await World.create(backend(), {
      modules: web('{mode: heal, ignore: [{kind: Deployment, name: web, pointer: /spec/replicas}]}'),
    });
    await world.converge();
    await edit(world, { spec: { replicas: 7 } });
    await edit(world, { metadata: { labels: { app: 'else', theirs: 'stays' } } });
    await world.log.untilMessage(BACK);
    expect(said(world, CHANGED)).toMatchObject([{ fields: ['/metadata/labels/app'] }]);
    const { spec, metadata } = await deployment(world);
    expect(spec.replicas).toBe(7);
    expect(metadata.labels).toMatchObject({ app: 'web', theirs: 'stays' });
  });

  test('a changed Secret is changed back, and its values are in no line of the log', async () => {
    await using world = await World.create(backend(), { modules: web('{mode: heal}') });
    await world.converge();
    const data = Buffer.from('other-word').toString('base64');
    await world.merge('secrets', 'web', { data: { password: data } });
    await world.log.untilMessage(BACK);
    expect(await world.get('secrets', 'web')).toMatchObject({
      data: { password: Buffer.from('secret-word').toString('base64') },
    });
    expect(said(world, CHANGED)).toMatchObject([{ resource: '/Secret/web', fields: ['/data/password'] }]);
    expect(JSON.stringify(world.log.records)).not.toMatch(/other-word|secret-word/);
  });

  test('a deleted object and one without the operator label are restored at once with mode heal', async () => {
    await using world = await World.create(backend(), { modules: web('{mode: heal}') });
    await world.converge();
    await edit(world, { metadata: { labels: { heritage: null } } });
    await world.log.untilMessage(BACK);
    expect((await deployment(world)).metadata.labels['heritage']).toBe('addon-operator');
    await world.expect({ method: 'DELETE', path: path(world) });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect((await deployment(world)).spec.replicas).toBe(2);
    expect(await metrics(world)).toContain(
      'modules_absent_resources_total{module="web",resource="/Deployment/web"} 1',
    );
  });

  test('a paused module is not changed back before it is resumed', async () => {
    await using world = await World.create(backend(), { modules: web('{mode: heal}') });
    await world.converge();
    await ask(world, '/module/web/pause', { reason: 'an incident' });
    await edit(world, { spec: { replicas: 0 } });
    await world.log.untilMessage(CHANGED);
    await vi.waitFor(async () => expect(JSON.stringify(await drift(world))).toContain('resumed'), WAIT);
    expect((await deployment(world)).spec.replicas).toBe(0);
    await ask(world, '/module/web/resume', {});
    await world.log.untilMessage(BACK);
    expect((await deployment(world)).spec.replicas).toBe(2);
  });

  test('a fight with another controller is noticed: it is named, and changing back waits longer and longer', async () => {
    await using world = await World.create(backend(), { modules: web('{mode: heal}') });
    await world.converge();
    for (const round of [1, 2, 3]) {
      await edit(world, { spec: { replicas: 5 } }, 'their-controller');
      await world.log.untilMessage(BACK, round);
    }
    await edit(world, { spec: { replicas: 5 } }, 'their-controller');
    const waits =
      'object is changed again after each correction, so corrections are delayed: let the other field manager own the fields, or add them to drift.ignore';
    await world.log.untilMessage(waits);
    expect(said(world, waits)).toMatchObject([
      { changedBy: ['their-controller'], resource: '/Deployment/web' },
    ]);
    expect((await deployment(world)).spec.replicas).toBe(5);
    expect(await drift(world)).toMatchObject({
      objects: [{ outlook: expect.stringContaining('repeatedly') }],
    });
    world.clock.jump(60_000);
    await world.log.untilMessage(BACK, 4);
    expect((await deployment(world)).spec.replicas).toBe(2);
  });

  test('without a drift mode nothing is watched or logged', async () => {
    await using world = await World.create(backend(), { modules: web('{}') });
    await world.converge();
    await edit(world, { spec: { replicas: 0 } });
    expect(await drift(world)).toBeNull();
    const counts = await metrics(world);
    expect(counts).not.toContain('module_drifted_resources{');
    expect(counts).not.toMatch(/verb="(?:LIST|WATCH)",url="[^"]*\/deployments"/);
  });
});
