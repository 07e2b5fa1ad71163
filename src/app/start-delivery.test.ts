import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { fieldsOf, valueAtPath } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { machineClock, type Sandbox, silentLog, startSandbox } from '@addon-operator/kube-sandbox';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import { Redactor } from '@addon-operator/masking/redactor';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cliRun } from '../../test/support/cli-run.ts';
import { LabRegistry, LabStore, labArtifacts, labDigest } from '../../test/support/delivery-lab.ts';
import { measureEventLoopDelay } from '../metrics/event-loop-delay.ts';
import { OperatorMetrics } from '../metrics/operator-metrics.ts';
import {
  type DeliveryOptions,
  prefetchContent,
  type RegistryAccess,
  startDelivery,
} from './start-delivery.ts';

const API_VERSION = 'addon-operator.io/v1alpha1';
const PATHS = { ModuleSource: 'modulesources', ModuleInstall: 'moduleinstalls' } as const;
const never = new AbortController().signal;

let sandbox: Sandbox;
let kube: MemoryClient;
let directory: string;
let registry: LabRegistry;
let store: LabStore;
let opened: [string, readonly string[], RegistryAccess][];
let events: string[];
let ended: (() => Promise<void>)[];
let redactor: Redactor;

beforeEach(async () => {
  sandbox = await startSandbox({ clock: machineClock, log: silentLog }, never);
  kube = new MemoryClient(sandbox, { touch: () => undefined, begin: () => () => undefined }, 'test');
  directory = await mkdtemp(join(tmpdir(), 'start-delivery-'));
  [registry, store, opened, events, ended] = [new LabRegistry(), new LabStore(), [], [], []];
  redactor = new Redactor();
  registry.push('web', '1.0.0');
  registry.tag('web', 'stable', labDigest('web', '1.0.0'));
});

afterEach(async () => {
  for (const end of ended) await end();
  await sandbox.stop();
  await rm(directory, { recursive: true, force: true });
});

function optionsWith(settings: Partial<DeliveryOptions['settings']> = {}): DeliveryOptions {
  const metrics = new OperatorMetrics({
    prefix: 'op_',
    hasQueueActions: false,
    version: '1.3.0',
    eventLoopDelay: measureEventLoopDelay(),
  });
  const common = { kube, clock: systemClock, log: silentLogger, random: Math.random };
  return {
    settings: {
      namespace: 'default',
      configMapName: 'op',
      moduleSourcesFile: '',
      moduleBackup: 'secrets',
      updateParallel: 4,
      updateFailures: 3,
      ...settings,
    },
    host: { clock: systemClock, log: silentLogger, random: Math.random },
    kube,
    reflectors: createSharedReflectors({ ...common, rediscover: (resource) => Promise.resolve(resource) }),
    redactor,
    metrics,
    store,
    modules: {
      switch: async ({ entry, digest }) => {
        await store.link(entry, digest);
        return { type: 'switched' };
      },
      remove: (entry) => store.unlink(entry),
    },
    operator: {
      version: '1.3.0',
      modules: () => new Map(),
      whyNotReady: () => undefined,
      whyDisabled: () => undefined,
      section: () => 'color: blue',
      gate: () => Promise.resolve({ type: 'passed' }),
    },
    artifacts: labArtifacts(registry),
    connect: (access) => ({
      open: (url, { mirrors }) => {
        opened.push([url, mirrors, access]);
        return registry.repository(url.split('/').at(-1) ?? '');
      },
      close: () => undefined,
    }),
    record: (module, { reason }) => events.push(`${module} ${reason}`),
  };
}

async function start(settings: Partial<DeliveryOptions['settings']> = {}) {
  const stop = new AbortController();
  const options = optionsWith(settings);
  const { metrics } = options;
  const started = await startDelivery(options, stop.signal);
  const running = started.run(stop.signal).catch(() => undefined);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  ended.push(end);
  return { ...started, metrics, end };
}

async function create(kind: keyof typeof PATHS, name: string, spec: unknown): Promise<void> {
  const path = `/apis/${API_VERSION}/${PATHS[kind]}`;
  await kube.request(
    { method: 'POST', path, body: { apiVersion: API_VERSION, kind, metadata: { name }, spec } },
    never,
  );
}

async function read(path: string): Promise<Readonly<Record<string, unknown>>> {
  return fieldsOf(await kube.request({ method: 'GET', path }, never));
}

function conditionOf(object: unknown, type: string): string {
  const conditions = valueAtPath(object, 'status', 'conditions');
  const all: readonly Record<string, string>[] = Array.isArray(conditions) ? conditions : [];
  return all.find((one) => one['type'] === type)?.['status'] ?? 'none';
}

const INSTALL = `/apis/${API_VERSION}/moduleinstalls/web`;
const install = { source: 'platform', order: 30, version: { channel: 'stable' } };

test('objects of the cluster install modules, and have a status', async () => {
  const auths = {
    'example.com': { username: 'me', password: 'hunter2-secret' },
    'other.example.com': { auth: Buffer.from('me:hunter3-secret').toString('base64') },
  };
  const dockerConfig = JSON.stringify({ auths });
  const secret = { '.dockerconfigjson': Buffer.from(dockerConfig).toString('base64') };
  const metadata = { name: 'regcred' };
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'kubernetes.io/dockerconfigjson',
    data: secret,
  };
  await kube.request({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body }, never);
  const { metrics, end } = await start();
  await create('ModuleSource', 'platform', {
    url: 'oci://example.com/platform',
    auth: { secretRef: { name: 'regcred' } },
    mirrors: ['oci://mirror.local/p'],
  });
  await create('ModuleInstall', 'web', install);
  await vi.waitFor(async () => expect(conditionOf(await read(INSTALL), 'Ready')).toBe('True'), 60_000);
  expect(redactor.text('hunter2-secret hunter3-secret')).not.toContain('hunter');
  expect(opened[0]).toMatchObject([
    'oci://example.com/platform/web',
    ['oci://mirror.local/p/web'],
    { dockerConfig, timeoutMs: 120_000 },
  ]);
  expect(store.linked).toEqual(new Map([['030-web', labDigest('web', '1.0.0')]]));
  expect((await read(INSTALL))['spec']).toEqual(install);
  expect(valueAtPath(await read(INSTALL), 'status', 'history', 0, 'version')).toBe('1.0.0');
  const state = await read('/api/v1/namespaces/default/configmaps/op-delivery');
  expect(valueAtPath(state, 'data', 'web')).toContain('"version":"1.0.0"');
  expect(events).toContain('web VersionInstalled');
  const page = await metrics.scrape();
  expect(page).toMatch(/op_module_source_last_success_timestamp_seconds\{source="platform"\} \d+/u);
  expect(page).toContain('op_module_source_ready{source="platform"} 1');
  expect(page).toContain('op_module_store_bytes 1');
  expect(page).toContain('op_module_pull_seconds_count 1');

  // Another node, with neither store nor registry.
  await end();
  registry.fault = new OperatorError('REGISTRY_UNREACHABLE', 'away');
  [store.contents, store.linked].forEach((all) => all.clear());
  const second = await start();
  expect([...second.delivery.unavailable().keys()]).toEqual(['web']);
  const lost = await second.metrics.scrape();
  expect(lost).toContain('op_module_content_missing{module="web"} 1');
  expect(lost).toContain('op_module_source_ready{source="platform"} 0');
  await kube.request({ method: 'DELETE', path: INSTALL }, never);
  await vi.waitFor(async () => {
    const { data } = await read('/api/v1/namespaces/default/configmaps/op-delivery');
    expect(fieldsOf(data)).toEqual({});
  }, 60_000);
});

test('a replica that waits has the content of installed versions ready, and writes nothing', async () => {
  const { end } = await start({ moduleBackup: 'none' });
  await create('ModuleSource', 'platform', { url: 'oci://example.com/platform' });
  await create('ModuleInstall', 'web', install);
  await vi.waitFor(async () => expect(conditionOf(await read(INSTALL), 'Installed')).toBe('True'), 60_000);
  const ofLeader = store;
  store = new LabStore();
  const writes: string[] = [];
  const readOnly: KubeClient = {
    stream: (request, signal) => kube.stream(request, signal),
    request: async (request, signal) => {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
      return await kube.request(request, signal);
    },
  };
  const stop = new AbortController();
  const waiting = prefetchContent({ ...optionsWith({ moduleBackup: 'none' }), kube: readOnly }, stop.signal);
  await vi.waitFor(() => expect([...store.contents.keys()]).toEqual([...ofLeader.contents.keys()]), 60_000);
  stop.abort();
  await waiting;
  expect({ writes, linked: store.linked.size }).toEqual({ writes: [], linked: 0 });

  // The leader dies with its node, and the registry is away.
  await end();
  registry.fault = new OperatorError('REGISTRY_UNREACHABLE', 'away');
  const second = await start({ moduleBackup: 'none' });
  expect(second.delivery.unavailable()).toEqual(new Map());
  expect(store.linked).toEqual(ofLeader.linked);
});

test('people approve, hold and unhold with commands that keep each other', async () => {
  const { metrics } = await start();
  const kubeConfig = join(directory, 'kubeconfig');
  await writeFile(kubeConfig, sandbox.kubeconfig);
  const run = async (args: string) => await cliRun(`module ${args} --kube-config ${kubeConfig}`);
  const spec = async (...path: string[]) => valueAtPath(await read(INSTALL), 'spec', ...path);
  await create('ModuleSource', 'platform', { url: 'oci://example.com/platform', interval: '10s' });
  await create('ModuleInstall', 'web', { ...install, update: { mode: 'manual' } });
  await vi.waitFor(async () => expect(conditionOf(await read(INSTALL), 'Installed')).toBe('True'), 60_000);
  const digest = registry.push('web', '1.1.0');
  registry.tag('web', 'stable', digest);
  const change = { spec: { version: { channel: 'stable' }, gates: [{ ready: '0s' }], order: 31 } };
  const contentType = 'application/merge-patch+json';
  await kube.request({ method: 'PATCH', path: INSTALL, contentType, body: change }, never);
  const version = { spec: { version: { channel: null, exact: '1.1.0' } } };
  await kube.request({ method: 'PATCH', path: INSTALL, contentType, body: version }, never);
  await vi.waitFor(
    async () => expect(conditionOf(await read(INSTALL), 'UpdatePending')).toBe('True'),
    10_000,
  );
  expect(await metrics.scrape()).toContain(
    'op_module_update_pending{module="web",reason="NeedsApproval",needs="decision"} 1',
  );

  expect((await run('hold web --reason INC-7 --until 2099-01-01')).stdout).toBe(
    'web is held until 2099-01-01: INC-7\n',
  );
  expect(await run('approve web --now')).toMatchObject({
    exitCode: 0,
    stdout: `web 1.1.0 is approved (${digest}), and is held (INC-7): addon-operator module unhold web\n`,
  });
  expect(await spec('approved')).toBe(digest);
  expect(await spec('approval', 'now')).toBe(true);
  expect(await spec('hold', 'reason')).toBe('INC-7');
  expect((await run('unhold web')).stdout).toBe('web is not held any more\n');
  expect(await spec('hold')).toBeUndefined();
  expect(await spec('approved')).toBe(digest);
  expect((await run('unhold web')).stdout).toBe('web is not held\n');
  await vi.waitFor(() => expect(store.linked.get('031-web')).toBe(digest), 60_000);
  expect((await run('approve web 9.9.9')).stderr).toContain('the status of web has no version 9.9.9');
  expect((await run('approve db')).stderr).toContain(
    'there is no ModuleInstall db in the cluster; an operator with --module-sources',
  );
});

const FILE = `apiVersion: ${API_VERSION}
kind: ModuleSource
metadata: {name: platform}
spec: {url: 'oci://example.com/platform'}
---
apiVersion: ${API_VERSION}
kind: ModuleInstall
metadata: {name: web}
spec: {source: platform, version: {channel: stable}}
`;

test('a file takes the place of objects, and is refused beside them', async () => {
  const path = join(directory, 'sources.yaml');
  await writeFile(path, FILE);
  const { end } = await start({ moduleSourcesFile: path });
  await vi.waitFor(() => expect(store.linked.size).toBe(1), 60_000);
  const definitions = await read('/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
  expect(definitions['items']).toEqual([]);
  await end();
  const { end: endSecond } = await start();
  await create('ModuleSource', 'platform', { url: 'oci://example.com/platform' });
  await endSecond();
  await expect(start({ moduleSourcesFile: path })).rejects.toThrow(
    '--module-sources is set, and there are objects of kind ModuleSource in the cluster: use one of both',
  );
  // The definitions were missing: that there is no ModuleInstall was no decision.
  expect(store.linked.size).toBe(1);
});
