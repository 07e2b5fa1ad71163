import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { hasStatus } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import type { DeliverySpecs } from '../../src/delivery/delivery.ts';
import { MODULE_INSTALLS, MODULE_SOURCES } from '../../src/delivery/delivery-crds.ts';
import type { InstallView } from '../../src/delivery/delivery-view.ts';
import { installDeliveryCrds } from '../../src/delivery/install-delivery-crds.ts';
import { SpecObjects } from '../../src/delivery/spec-objects.ts';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { accessFrom, clientFor } from '../support/cluster-client.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { kstatusOf, kstatusProblems, type ReadObject } from '../support/kstatus.ts';

const never = new AbortController().signal;
const WAIT_MS = 60_000;
const DIGEST = `sha256:${'a'.repeat(64)}`;
const valid = { source: 'platform', version: { channel: 'stable' } };
const at = { from: '09:00', to: '16:00' };

/** What the API server refuses, with a part of its message. */
const REFUSED: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['no version', { version: {} }, 'must have exactly one of channel, range, exact, digest'],
  ['two versions', { version: { channel: 'a', exact: '1.0.0' } }, 'must have exactly one of channel'],
  ['a version that is none', { version: { exact: 'v1' } }, 'must be a version such as 1.4.2'],
  ['a digest that is none', { version: { digest: 'sha256:12' } }, 'spec.version.digest'],
  ['a tag as approval', { approved: '1.0.0' }, 'spec.approved'],
  ['a window without length', { update: { windows: [{ from: '09:00', to: '09:00' }] } }, 'never opens'],
  ['an unknown zone', { update: { windows: [{ ...at, timeZone: 'Europe/Berln' }] } }, 'time zone'],
  ['an unknown day', { update: { windows: [{ ...at, days: ['Monday'] }] } }, 'Unsupported value: "Monday"'],
  ['no day', { update: { windows: [{ ...at, days: [] }] } }, 'days'],
  ['25 o clock', { update: { windows: [{ ...at, to: '25:00' }] } }, 'windows[0].to'],
  ['soak that is no duration', { update: { soak: 'long' } }, 'must be a duration'],
  ['an unknown mode', { update: { mode: 'fast' } }, 'Unsupported value: "fast"'],
  ['a hold without reason', { hold: {} }, 'spec.hold.reason'],
  ['a blank reason', { hold: { reason: ' ' } }, 'must say why'],
  ['a gate of no kind', { gates: [{}] }, 'must have exactly one of ready, query'],
  ['a query without a limit', { gates: [{ query: { url: 'http://p', promql: 'up' } }] }, 'max'],
  [
    'a query with a password',
    { gates: [{ query: { url: 'http://a:b@p', promql: 'up', max: 1 } }] },
    'without credentials',
  ],
  ['a large order', { order: 1000 }, 'spec.order'],
];

const REFUSED_SOURCES: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['no address', {}, 'spec.url'],
  ['another scheme', { url: 'https://example.com' }, 'must be oci://'],
  ['credentials in the address', { url: 'oci://a:b@example.com/x' }, 'must be oci://'],
  ['too often', { url: 'oci://example.com/x', interval: '1s' }, 'from 10s to a year'],
  [
    'two credentials',
    { url: 'oci://example.com/x', auth: { secretRef: { name: 'a' }, credentialProvider: 'b' } },
    'must have exactly one of secretRef',
  ],
  ['no keys', { url: 'oci://example.com/x', verify: { cosign: { keys: [] } } }, 'keys'],
];

describeCluster('definitions of delivery', (cluster) => {
  test('the API server refuses contradictory specs, and kubectl waits for Ready', async () => {
    const backend = await controlPlaneBackend(cluster());
    const kube = clientFor(await accessFrom(backend.kubeconfigPath));
    const stop = new AbortController();
    const directory = await mkdtemp(join(tmpdir(), 'delivery-'));
    try {
      // Other tests on this control plane may have installed them.
      await installDeliveryCrds(kube, stop.signal);
      expect(await installDeliveryCrds(kube, stop.signal)).toEqual({ areNew: false });
      const create = async (
        resource: typeof MODULE_SOURCES,
        spec: unknown,
        name: string,
      ): Promise<string> => {
        const { kind } = resource;
        const body = { apiVersion: 'addon-operator.io/v1alpha1', kind, metadata: { name }, spec };
        try {
          await kube.request({ method: 'POST', path: resourcePath(resource), body }, stop.signal);
          return 'accepted';
        } catch (error) {
          // The kind is served a moment after its definition.
          if (hasStatus(error, 404)) throw error;
          return String(error);
        }
      };
      const everything = {
        ...valid,
        order: 30,
        version: { range: '~1.4' },
        update: {
          mode: 'patch',
          windows: [{ days: ['Mon'], ...at, timeZone: 'Europe/Berlin' }],
          soak: '24h',
        },
        approved: DIGEST,
        approval: { at: '2026-11-01T08:00:00Z', now: true },
        hold: { reason: 'INC-7', until: '2026-12-01' },
        gates: [
          { ready: '5m' },
          { query: { url: 'http://prometheus:9090', promql: 'up', max: 0.01, for: '10m', noData: 'hold' } },
        ],
        onFailure: { rollback: true, after: '15m' },
      };
      await vi.waitFor(async () => {
        expect(
          await create(
            MODULE_SOURCES,
            { url: 'oci://registry.example.com/platform', interval: '10m' },
            'platform',
          ),
        ).toBe('accepted');
        expect(await create(MODULE_INSTALLS, everything, 'web')).toBe('accepted');
      }, WAIT_MS);
      const responses = new Map<string, string>();
      for (const [name, change] of REFUSED)
        responses.set(name, await create(MODULE_INSTALLS, { ...valid, ...change }, 'bad'));
      for (const [name, spec] of REFUSED_SOURCES)
        responses.set(name, await create(MODULE_SOURCES, spec, 'bad'));
      const unlike = [...REFUSED, ...REFUSED_SOURCES].filter(
        ([name, , message]) => responses.get(name)?.includes(message) !== true,
      );
      expect(unlike.map(([name]) => `${name}: ${responses.get(name)}`)).toEqual([]);

      const specs: DeliverySpecs[] = [];
      const reflectors = createSharedReflectors({
        kube,
        clock: systemClock,
        log: silentLogger,
        random: Math.random,
        rediscover: (resource) => Promise.resolve(resource),
      });
      const objects = new SpecObjects({
        kube,
        reflectors,
        log: silentLogger,
        onSpecs: (all) => specs.push(all),
      });
      await objects.follow(false, stop.signal);
      expect(specs.at(-1)?.installs).toMatchObject([
        { type: 'valid', value: { name: 'web', entry: '030-web', generation: 1 } },
      ]);
      const view: InstallView = {
        name: 'web',
        generation: 1,
        source: 'platform',
        invalid: undefined,
        installed: undefined,
        lastGood: undefined,
        wanted: undefined,
        pending: undefined,
        failed: [],
        hasFailed: false,
        history: [],
        isUpdating: false,
        waitsFor: undefined,
        missing: undefined,
        problem: undefined,
        sourceProblem: undefined,
        notReady: undefined,
        disabled: undefined,
        isOrphan: false,
      };
      const read = async () => {
        const path = resourcePath(MODULE_INSTALLS, undefined, 'web');
        return (await kube.request({ method: 'GET', path }, stop.signal)) as ReadObject & { spec: unknown };
      };
      await objects.writeStatus({ sources: [], installs: [view] }, Date.now(), stop.signal);
      expect(kstatusOf(await read())).toBe('InProgress');
      const version = { version: '1.4.2', digest: DIGEST, atMs: Date.now() };
      const installed = { ...view, installed: version, lastGood: version, wanted: version };
      await objects.writeStatus({ sources: [], installs: [installed] }, Date.now(), stop.signal);
      expect(kstatusProblems(await read()).filter((problem) => !problem.includes('not exactly one'))).toEqual(
        [],
      );
      expect((await read()).spec).toEqual(everything);

      const binary = await pinnedKubectl({ cacheDir: cacheDirectory(process.env, homedir()) }, never);
      const kubectl = async (...args: readonly string[]): Promise<string> => {
        const env = { KUBECONFIG: backend.kubeconfigPath, HOME: directory };
        return (await execa(binary, args, { extendEnv: false, env })).stdout;
      };
      await kubectl('wait', '--for=condition=Ready', 'moduleinstall/web', '--timeout=30s');
      expect(await kubectl('get', 'moduleinstalls')).toMatch(
        /web +platform +1\.4\.2 +1\.4\.2 +True +1\.4\.2 runs/u,
      );
      // A human's field manager on fields that git need not mention.
      const file = join(directory, 'approval.yaml');
      const patch = `apiVersion: addon-operator.io/v1alpha1\nkind: ModuleInstall\nmetadata: {name: web}\nspec: {approved: 'sha256:${'b'.repeat(64)}'}\n`;
      await writeFile(file, patch);
      await kubectl('apply', '--server-side', '--force-conflicts', '--field-manager=human', '-f', file);
      await vi.waitFor(() => {
        expect(specs.at(-1)?.installs).toMatchObject([
          { value: { approval: { digest: `sha256:${'b'.repeat(64)}` } } },
        ]);
      }, WAIT_MS);
      await kubectl('delete', 'moduleinstall', 'web');
      await vi.waitFor(() => expect(specs.at(-1)?.installs).toEqual([]), WAIT_MS);
    } finally {
      stop.abort();
      for (const { plural } of [MODULE_SOURCES, MODULE_INSTALLS])
        await kube.request(
          {
            method: 'DELETE',
            path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.addon-operator.io`,
          },
          never,
        );
      kube.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
