import { messageOf, OperatorError, retryAfterOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { identityOf } from '@addon-operator/helm/manifest-object';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { block, errorDetails, notReady } from '@addon-operator/sdk';
import { beforeEach, expect, test } from 'vitest';
import type { HostSet } from './customizations.ts';
import { DeploySteps, type DeployStepsOptions } from './deploy-steps.ts';
import type { HostMethod, PointHost } from './point.ts';
import { deleteSteps } from './release-points.ts';

const signal = new AbortController().signal;
const DISK: KubeObject = { apiVersion: 'example.com/v1', kind: 'Disk', metadata: { name: 'a' } };
const OTHER: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const REFUSED = new OperatorError(
  'HELM_FAILED',
  'Cannot deploy release "web": cannot patch "a" with kind Disk: Disk.example.com "a" is invalid: spec.size: Invalid value',
);

let live: Map<string, KubeObject>;
let fresh: readonly KubeObject[];
beforeEach(() => {
  live = new Map();
  fresh = [];
});

/** Extensions for disks. */
function hostSet(host: Omit<PointHost, 'name'>): HostSet {
  const one: PointHost = { name: 'DiskExtensions', ...host };
  return {
    digest: 'files',
    has: (method) => one[method] !== undefined,
    find: (_apiVersion, kind) => (kind === 'Disk' ? [one] : []),
  };
}

function steps(hosts: HostSet | undefined, options: Partial<DeployStepsOptions> = {}): DeploySteps {
  return new DeploySteps({
    hosts,
    log: silentLogger,
    isFatalAllowed: false,
    waitsUntilReady: false,
    readObject: ({ kind, name }) => Promise.resolve(live.get(`${kind} ${name}`)),
    readPodTrouble: () => Promise.resolve(undefined),
    newObjects: () => fresh,
    setNewObjects: (objects) => {
      fresh = objects;
    },
    ...options,
  });
}

async function rejection(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const returning =
  (result: unknown): HostMethod =>
  () =>
    Promise.resolve(result);

test('transform() changes the objects of extended kinds and no others', async () => {
  const modifyManifest: HostMethod = (object) =>
    Promise.resolve({ ...(object as object), spec: { size: 2 } });
  const result = await steps(hostSet({ modifyManifest })).transform([OTHER, DISK], signal);
  expect(result).toEqual([OTHER, { ...DISK, spec: { size: 2 } }]);
  expect(result[0]).toBe(OTHER);
});

test('transform() names object and file, when an extension returns something else', async () => {
  const modifyManifest: HostMethod = () => Promise.resolve({ kind: 'Disk' });
  const own = steps(hostSet({ path: '/m/customizations/example.com/disk.ts', modifyManifest }));
  expect(messageOf(await rejection(own.transform([DISK], signal)))).toBe(
    `Disk "a": extension '/m/customizations/example.com/disk.ts': Cannot use the result of modifyManifest(): it must be an object with apiVersion, kind and metadata`,
  );
});

test('beforeApply() holds the release back with all reasons and the shortest time', async () => {
  const waits = [block('no power', 60_000), block('no disk', 20_000)];
  const preReconcileCheck: HostMethod = () => Promise.resolve(waits.shift());
  const second = { ...DISK, metadata: { name: 'b', namespace: 'n' } };
  const error = await rejection(
    steps(hostSet({ preReconcileCheck })).beforeApply([DISK, OTHER, second], signal),
  );
  expect(error).toMatchObject({
    code: 'RELEASE_BLOCKED',
    message: 'Nothing is applied yet: Disk "a": no power; Disk "n/b": no disk',
  });
  expect(retryAfterOf(error)).toBe(20_000);
});

test('beforeApply() lets everything proceed that no extension blocks', async () => {
  const preReconcileCheck: HostMethod = (object, next) => next(object);
  const runs = [hostSet({ preReconcileCheck }), hostSet({})].map((hosts) =>
    rejection(steps(hosts).beforeApply([DISK, OTHER], signal)),
  );
  expect(await Promise.all(runs)).toEqual([undefined, undefined]);
});

test('onFailure() retries everything by default', async () => {
  const own = steps(hostSet({}));
  await own.transform([DISK], signal);
  expect(await own.onFailure(REFUSED, signal)).toBe(REFUSED);
});

test('onFailure() makes a refusal permanent where errors may be fatal', async () => {
  const own = steps(hostSet({}), { isFatalAllowed: true });
  await own.transform([DISK], signal);
  const error = await own.onFailure(REFUSED, signal);
  expect(error.isPermanent).toBe(true);
  expect(error.message).toBe(`${REFUSED.message} (fatal: Invalid)`);
  expect(error.cause).toBe(REFUSED);
});

test('onFailure() needs no extension and no object for that', async () => {
  const own = steps(undefined, { isFatalAllowed: true });
  expect(own.ignoresObjects).toBe(true);
  expect((await own.onFailure(REFUSED, signal)).isPermanent).toBe(true);
  const lost = new OperatorError('HELM_FAILED', 'Kubernetes cluster unreachable');
  expect(await own.onFailure(lost, signal)).toBe(lost);
});

test('onFailure() makes an error retryable that is fatal by default, for one kind only', async () => {
  const classifyError: HostMethod = async (error, next) => ({
    ...((await next(error)) as object),
    classification: 'retryable',
  });
  const own = steps(hostSet({ classifyError }), { isFatalAllowed: true });
  await own.transform([DISK, OTHER], signal);
  expect((await own.onFailure(REFUSED, signal)).isPermanent).toBe(false);
  const other = new OperatorError('HELM_FAILED', 'ConfigMap "a" is invalid: data: Invalid value');
  expect((await own.onFailure(other, signal)).isPermanent).toBe(true);
});

test('onFailure() passes an extension what is known, and reports its words', async () => {
  const seen: unknown[] = [];
  const classifyError: HostMethod = (error) => {
    seen.push(error);
    return Promise.resolve(errorDetails('fatal', 'TooSmall', 'disks begin at 10 GB'));
  };
  const own = steps(hostSet({ classifyError }));
  await own.transform([DISK], signal);
  const error = await own.onFailure(REFUSED, signal);
  expect(seen).toEqual([
    { code: 'HELM_FAILED', status: 422, reason: 'Invalid', message: REFUSED.message, object: DISK },
  ]);
  expect(error).toMatchObject({
    isPermanent: true,
    message: `${REFUSED.message} (fatal: TooSmall: disks begin at 10 GB)`,
  });
});

test('onFailure() keeps the error when an extension cannot classify it', async () => {
  const classifyError: HostMethod = () => Promise.reject(new OperatorError('EXTENSION_FAILED', 'boom'));
  const own = steps(hostSet({ classifyError }), { isFatalAllowed: true });
  await own.transform([DISK], signal);
  const error = await own.onFailure(REFUSED, signal);
  expect(error.isPermanent).toBe(false);
  expect(error.message).toBe(`${REFUSED.message} (an extension failed to classify this: Disk "a": boom)`);
});

test('whenDeployed() passes objects as they are in the cluster, with kstatus as the default', async () => {
  const postReconcileCheck: HostMethod = (object, next) => next(object);
  const own = steps(hostSet({ postReconcileCheck }));
  const identities = [identityOf(DISK), identityOf(OTHER)];
  expect(messageOf(await rejection(own.whenDeployed(identities, signal)))).toContain(
    'Disk/a: it does not exist',
  );
  const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'Formatting' }] };
  live.set('Disk a', { ...DISK, status });
  const error = await rejection(own.whenDeployed(identities, signal));
  expect(error).toMatchObject({
    code: 'RELEASE_NOT_READY',
    message: 'Objects are applied, but not ready: /Disk/a: its condition Ready is False: Formatting',
  });
  expect(retryAfterOf(error)).toBe(10_000);
  live.set('Disk a', DISK);
  await own.whenDeployed(identities, signal);
});

test('whenDeployed() passes all objects where the module waits until it is ready', async () => {
  live.set('Disk a', DISK);
  const own = steps(undefined, { waitsUntilReady: true });
  const identities = [identityOf(DISK), identityOf(OTHER)];
  expect(messageOf(await rejection(own.whenDeployed(identities, signal)))).toBe(
    'Objects are applied, but not ready: /ConfigMap/a: it does not exist',
  );
  live.set('ConfigMap a', OTHER);
  await own.whenDeployed(identities, signal);
});

test('whenDeployed() adds what keeps the pods of a workload from running', async () => {
  live.set('Disk a', { ...DISK, status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  const readPodTrouble = ({ metadata }: KubeObject) => Promise.resolve(`pod ${metadata.name}-1 waits`);
  const own = steps(undefined, { waitsUntilReady: true, readPodTrouble });
  expect(messageOf(await rejection(own.whenDeployed([identityOf(DISK)], signal)))).toBe(
    'Objects are applied, but not ready: /Disk/a: its condition Ready is False, pod a-1 waits',
  );
});

test('whenDeployed() waits as long as the extension says', async () => {
  live.set('Disk a', DISK);
  const own = steps(hostSet({ postReconcileCheck: returning(notReady('empty', 500)) }));
  expect(retryAfterOf(await rejection(own.whenDeployed([identityOf(DISK)], signal)))).toBe(500);
});

test('onSuccess() is called once for each new object, and again after a failure', async () => {
  const calls: string[] = [];
  let isBroken = true;
  const onSuccess: HostMethod = (object) => {
    const { name } = (object as KubeObject).metadata;
    calls.push(name);
    return name === 'b' && isBroken
      ? Promise.reject(new OperatorError('EXTENSION_FAILED', 'boom'))
      : Promise.resolve(undefined);
  };
  const own = steps(hostSet({ onSuccess }));
  const b = { ...DISK, metadata: { name: 'b' } };
  await own.afterApply({ revision: 1, objects: [DISK, b, OTHER], added: [DISK, b, OTHER] });
  expect(messageOf(await rejection(own.whenDeployed([], signal)))).toBe('Disk "b": boom');
  isBroken = false;
  await own.afterApply({ revision: 2, objects: [DISK, b, OTHER], added: [] });
  await own.whenDeployed([], signal);
  await own.whenDeployed([], signal);
  expect(calls).toEqual(['a', 'b', 'b']);
});

test('deleteSteps() leaves to helm what extensions leave to it, and keeps the rest from it', async () => {
  const hosts = hostSet({
    delete: (object, next) =>
      (object as KubeObject).metadata.name === 'a' ? next(object) : Promise.resolve(undefined),
  });
  const b = { ...DISK, metadata: { name: 'b' } };
  const kept: (readonly KubeObject[])[] = [];
  const uninstall = async (objects: readonly KubeObject[]): Promise<void> => {
    kept.push(objects);
    await Promise.resolve();
  };
  await deleteSteps(hosts, silentLogger).around([DISK, b, OTHER], uninstall, signal);
  expect(kept).toEqual([[b]]);
});

test('deleteSteps() deletes nothing when an extension fails', async () => {
  const hosts = hostSet({ delete: () => Promise.reject(new OperatorError('EXTENSION_FAILED', 'boom')) });
  let isUninstalled = false;
  const uninstall = async (): Promise<void> => {
    isUninstalled = true;
    await Promise.resolve();
  };
  const error = await rejection(deleteSteps(hosts, silentLogger).around([DISK], uninstall, signal));
  expect([messageOf(error), isUninstalled]).toEqual(['Disk "a": boom', false]);
});
