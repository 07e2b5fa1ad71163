import { gunzipSync, gzipSync } from 'node:zlib';
import type { ReleaseState } from '@addon-operator/helm/recovery-table';
import { decodeRelease, encodeRelease, withStatus } from '@addon-operator/helm/release-record';
import { expect, vi } from 'vitest';
import type { HelmWorld } from './helm-world.ts';

const WAIT_MS = 60_000;
const BAD_SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 99999}], selector: {app: web}}
`;

interface Kept {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields: readonly { readonly manager: string; readonly operation: 'Apply' | 'Update' }[];
  };
  readonly [field: string]: unknown;
}

/** Everything that a release left in a namespace. */
interface Snapshot {
  readonly namespace: string;
  readonly secrets: readonly Kept[];
  readonly configMaps: readonly Kept[];
  readonly jobs: readonly Kept[];
}

/**
 * Brings the release `web` into states, with one version of helm: the first time with the real helm wherever helm can leave
 * it so, and in the namespaces after that with a copy of what helm has left in the first one. Of the 17 helm processes that
 * the states take, half are killed while they wait, and each state is needed up to five times.
 */
export class ReleaseStates {
  readonly #snapshots = new Map<ReleaseState, Snapshot>();

  async produce(world: HelmWorld, state: ReleaseState): Promise<void> {
    const snapshot = this.#snapshots.get(state);
    if (snapshot !== undefined) {
      await restore(world, snapshot);
      return;
    }
    await run(world, state);
    this.#snapshots.set(state, await snapshotOf(world));
  }
}

export async function install(world: HelmWorld): Promise<void> {
  await world.person('install', 'web', world.modulePath, '--set', 'web.greeting=mine');
}

/** Makes the release look as if it had been upgraded, without a change, until it has so many revisions. */
export async function addRevisions(world: HelmWorld, count: number): Promise<void> {
  const first = 'sh.helm.release.v1.web.v1';
  const { metadata, data, type } = (await world.object(`secrets/${first}`)) as unknown as Kept;
  const { release = '' } = data as { readonly release?: string };
  const installed = await decodeRelease(Buffer.from(release, 'base64').toString('utf8'), first);
  for (let version = 1; version <= count; version += 1) {
    const status = version === count ? 'deployed' : 'superseded';
    const record = await encodeRelease({ ...withStatus(installed, status, 'Upgrade complete'), version });
    const body = {
      metadata: {
        ...metadata,
        name: `sh.helm.release.v1.web.v${version}`,
        labels: { ...metadata.labels, version: String(version), status },
      },
      data: { release: Buffer.from(record).toString('base64') },
      type,
    };
    if (version === 1) await world.delete(`secrets/${first}`);
    await create(world, 'secrets', 'v1', 'Secret', body);
  }
}

async function upgrade(world: HelmWorld): Promise<void> {
  await world.person('upgrade', 'web', world.modulePath, '--set', 'web.greeting=other');
}

export async function patchRecord(world: HelmWorld, name: string, body: object): Promise<void> {
  await world.probe.expect({
    method: 'PATCH',
    path: world.path(`secrets/${name}`),
    contentType: 'application/merge-patch+json',
    body,
  });
}

export async function corrupt(world: HelmWorld, record: string, release = 'garbage'): Promise<void> {
  await patchRecord(world, record, { data: { release: Buffer.from(release).toString('base64') } });
}

async function run(world: HelmWorld, state: ReleaseState): Promise<void> {
  switch (state) {
    case 'none':
      return;
    case 'deployed':
      await install(world);
      return;
    case 'failed':
      await world.put({ 'templates/service.yaml': BAD_SERVICE });
      await install(world).catch(() => undefined);
      await world.put({ 'templates/service.yaml': undefined });
      return;
    case 'pending-install':
      await world.put({ 'templates/hook.yaml': hangingHook('pre-install') });
      return await killWhileHanging(world, 'install', 'web', world.modulePath, '--set', 'web.greeting=mine');
    case 'pending-upgrade':
      await install(world);
      await world.put({ 'templates/hook.yaml': hangingHook('pre-upgrade') });
      return await killWhileHanging(world, 'upgrade', 'web', world.modulePath, '--set', 'web.greeting=mine');
    case 'pending-rollback':
      await world.put({ 'templates/hook.yaml': hangingHook('pre-rollback') });
      await install(world);
      await upgrade(world);
      return await killWhileHanging(world, 'rollback', 'web', '1');
    case 'uninstalling':
      await world.put({ 'templates/hook.yaml': hangingHook('pre-delete') });
      await install(world);
      return await killWhileHanging(world, 'uninstall', 'web');
    case 'uninstalled':
      await install(world);
      await world.person('uninstall', 'web', '--keep-history');
      return;
    case 'superseded':
      await install(world);
      await upgrade(world);
      await world.delete('secrets/sh.helm.release.v1.web.v2');
      return;
    case 'unknown':
      await install(world);
      await rewriteAsUnknown(world);
      return;
    case 'corrupt':
      await install(world);
      await upgrade(world);
      await corrupt(world, 'sh.helm.release.v1.web.v2');
  }
}

/** A Job that gets no Pods: helm waits for this hook until it is killed. */
function hangingHook(hook: string): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: hang, annotations: {"helm.sh/hook": "${hook}"}}
spec: {parallelism: 0, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`;
}

async function killWhileHanging(world: HelmWorld, ...args: readonly string[]): Promise<void> {
  const helm = world.person(...args);
  const ended = helm.catch(() => undefined);
  await vi.waitFor(async () => expect(await world.object('batch/jobs/hang')).toBeDefined(), WAIT_MS);
  helm.kill('SIGKILL');
  await ended;
  await world.put({ 'templates/hook.yaml': undefined });
}

/** helm never leaves this state; an unknown later version might. */
async function rewriteAsUnknown(world: HelmWorld): Promise<void> {
  const release = { name: 'web', info: { status: 'unknown' }, manifest: '', version: 1, chart: {} };
  const data = { release: Buffer.from(await encodeRelease(release)).toString('base64') };
  await patchRecord(world, 'sh.helm.release.v1.web.v1', {
    data,
    metadata: { labels: { status: 'unknown' } },
  });
}

async function snapshotOf(world: HelmWorld): Promise<Snapshot> {
  const list = async (path: string): Promise<readonly Kept[]> =>
    ((await world.object(path)) as { readonly items: readonly Kept[] }).items;
  const maps = await list('configmaps');
  return {
    namespace: world.namespace,
    secrets: await list('secrets'),
    configMaps: maps.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt'),
    jobs: await list('batch/jobs'),
  };
}

async function restore(world: HelmWorld, snapshot: Snapshot): Promise<void> {
  const rename = (text: string): string => text.replaceAll(snapshot.namespace, world.namespace);
  for (const { metadata, data, type } of snapshot.secrets) {
    const { release = '' } = data as { readonly release?: string };
    const moved = { release: renameRecord(release, rename) };
    await create(world, 'secrets', 'v1', 'Secret', { metadata, data: moved, type });
  }
  for (const { metadata, data } of snapshot.configMaps) {
    const renamed = JSON.parse(rename(JSON.stringify(metadata))) as Kept['metadata'];
    await create(world, 'configmaps', 'v1', 'ConfigMap', { metadata: renamed, data });
  }
  for (const { metadata, spec } of snapshot.jobs) {
    const { parallelism, template } = spec as { parallelism: number; template: { spec: object } };
    // The rest of both is the server's.
    const own = { parallelism, template: { spec: template.spec } };
    await create(world, 'batch/jobs', 'batch/v1', 'Job', { metadata, spec: own });
  }
}

/** Creates an object as the client did that owns the fields of the original: helm 4 applies, helm 3 creates. */
async function create(
  world: HelmWorld,
  plural: string,
  apiVersion: string,
  kind: string,
  { metadata, ...rest }: Kept,
): Promise<void> {
  const { name, labels, annotations, managedFields } = metadata;
  const body = { apiVersion, kind, metadata: { name, labels, annotations }, ...rest };
  const [owner] = managedFields;
  const isApplied = owner?.operation === 'Apply';
  await world.probe.expect({
    method: isApplied ? 'PATCH' : 'POST',
    path: `${world.path(isApplied ? `${plural}/${name}` : plural)}?fieldManager=${owner?.manager ?? 'helm'}`,
    ...(isApplied ? { contentType: 'application/apply-patch+yaml' } : {}),
    body,
  });
}

/** A record holds the namespace of its release, inside base64 twice and gzip; one that cannot be read stays. */
function renameRecord(release: string, rename: (text: string) => string): string {
  const packed = Buffer.from(Buffer.from(release, 'base64').toString('utf8'), 'base64');
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) return release;
  const renamed = gzipSync(rename(gunzipSync(packed).toString('utf8'))).toString('base64');
  return Buffer.from(renamed).toString('base64');
}
