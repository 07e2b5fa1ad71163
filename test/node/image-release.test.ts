import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findEngine, runEngine } from '../../release/engine.ts';
import { type Published, publish, pushChart } from '../../release/publish.ts';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { furtherNode } from '../support/api-independent.ts';
import { describeImage } from '../support/image/image-suite.ts';
import { describeNode } from '../support/node/node-suite.ts';
import { PodOperator, RELEASE } from '../support/node/pod-operator.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';

const MAX_PACKED_BYTES = 110_000_000;
const SOON = { timeout: 600_000, interval: 200 };
const signal = new AbortController().signal;

describeImage('a release', () => {
  test('gives the chart the same digest for the same files and time, whenever it is packed', async () => {
    await using registry = await FaultRegistry.start(signal);
    const options = { registry: `${registry.host}/team`, isPlainHttp: true, home: undefined };
    const push = async () => await pushChart(options, '1.2.3', 1_700_000_000, signal);
    expect(await push()).toBe(await push());
  });
});

describeNode('a published release', (node) => {
  let registry: FaultRegistry;
  let released: Published;
  beforeAll(async () => {
    registry = await FaultRegistry.start(signal);
    released = await publishTo(registry);
  });
  afterAll(async () => {
    await removeImages(registry.host);
    await registry[Symbol.asyncDispose]();
  });

  test('is pulled by its digests, and small enough', furtherNode, async () => {
    const packed = await registry.packedBytes(released.image);
    console.log(`release: ${(packed / 1e6).toFixed(1)} MB packed`);
    expect(packed).toBeLessThanOrEqual(MAX_PACKED_BYTES);
    const engine = await findEngine('buildah', signal);
    const pull = ['pull', '--quiet', '--tls-verify=false', released.image];
    const id = await runEngine(engine, pull, undefined, signal);
    const described = await runEngine(engine, ['inspect', '--type', 'image', id], undefined, signal);
    expect(described).toContain('"org.opencontainers.image.title": "addon-operator"');

    const home = await mkdtemp(join(tmpdir(), 'helm-home-'));
    try {
      const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
      const cacheDir = cacheDirectory(process.env, homedir());
      for (const major of [3, 4] as const) {
        const helm = await pinnedHelm(major, { cacheDir }, signal);
        const values = ['--set', `image.repository=${released.image.split('@')[0]}`];
        const shown = await execa(helm, ['template', 'op', released.chart, '--plain-http', ...values], {
          env,
        });
        expect(shown.stdout).toContain('kind: Deployment');
      }
      const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
      expect(released.chart).toContain('/charts/addon-operator@sha256:');
      const helm = await pinnedHelm(4, { cacheDir }, signal);
      const chart = released.chart.split('@')[0] ?? '';
      const version = ['--version', manifest.version, '--plain-http'];
      await execa(helm, ['pull', chart, ...version, '--untar', '--untardir', home], { env });
      const lint = ['lint', '--strict', join(home, 'addon-operator'), '--set=image.repository=x'];
      expect((await execa(helm, lint, { env })).stdout).toContain('0 chart(s) failed');
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test('has the same digests when the same commit is published again', furtherNode, async () => {
    expect(await publishTo(registry)).toEqual(released);
  });

  test('is installed by its digests in pods, whose node pulls the image', furtherNode, async () => {
    const shared = await node();
    await shared.node.bringPort(Number(registry.host.split(':')[1]));
    const [repository = '', digest = ''] = released.image.split('@');
    await using operator = await PodOperator.prepare(shared, {
      name: 'release',
      image: repository,
      permissions: 'administrator',
    });
    const values = [`image.repository=${repository}`, `image.digest=${digest}`];
    const flags = ['--namespace', operator.namespace, '--plain-http', '--wait', '--timeout=5m'];
    const set = values.flatMap((value) => ['--set', value]);
    await operator.helm('install', RELEASE, released.chart, ...set, ...flags);
    const [pod] = await operator.pods();
    expect(pod?.status.containerStatuses).toMatchObject([
      { ready: true, imageID: expect.stringContaining(digest) },
    ]);
    await expect
      .poll(async () => await operator.exec('addon-operator', 'status'), SOON)
      .toContain('all is well');
  });
});

async function publishTo({ host }: FaultRegistry): Promise<Published> {
  const onProgress = (message: string): void => console.log(`release: ${message}`);
  const registry = { registry: `${host}/team`, isPlainHttp: true };
  return await publish(
    { engine: 'buildah', allowsChanges: true, home: undefined, onProgress, ...registry },
    signal,
  );
}

/** Each run has a registry, and so images, of its own. */
async function removeImages(host: string): Promise<void> {
  const engine = await findEngine('buildah', signal);
  const list = ['images', '--no-trunc', '--format', '{{.Name}} {{.ID}}'];
  const images = (await runEngine(engine, list, undefined, signal)).split('\n');
  const ids = images.filter((line) => line.startsWith(`${host}/`)).map((line) => line.split(/\s+/)[1] ?? '');
  if (ids.length > 0) await runEngine(engine, ['rmi', '--force', ...new Set(ids)], undefined, signal);
}
