import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedHelm } from '@addon-operator/pinned-tools';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { findEngine, runEngine } from '../../release/engine.ts';
import { publish, pushChart } from '../../release/publish.ts';
import { furtherNode } from '../support/api-independent.ts';
import { describeImage } from '../support/image/image-suite.ts';
import { Registry } from '../support/registry/registry.ts';

const MAX_PACKED_BYTES = 110_000_000;
const signal = new AbortController().signal;

describeImage('a release', () => {
  test('publishes image and chart, to be pulled and installed by their digests', furtherNode, async () => {
    await using registry = await Registry.start(signal);
    const options = {
      engine: 'buildah' as const,
      registry: `${registry.host}/team`,
      isPlainHttp: true,
      allowsChanges: true,
      onProgress: (message: string) => console.log(`release: ${message}`),
    };
    const first = await publish(options, signal);

    const packed = await registry.packedBytes(first.image);
    console.log(`release: ${(packed / 1e6).toFixed(1)} MB packed`);
    expect(packed).toBeLessThanOrEqual(MAX_PACKED_BYTES);
    const engine = await findEngine('buildah', signal);
    const id = await runEngine(
      engine,
      ['pull', '--quiet', '--tls-verify=false', first.image],
      undefined,
      signal,
    );
    const described = await runEngine(engine, ['inspect', '--type', 'image', id], undefined, signal);
    expect(described).toContain('"org.opencontainers.image.title": "addon-operator"');

    const home = await mkdtemp(join(tmpdir(), 'helm-home-'));
    try {
      const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
      const cacheDir = cacheDirectory(process.env, homedir());
      for (const major of [3, 4] as const) {
        const helm = await pinnedHelm(major, { cacheDir }, signal);
        const values = ['--set', `image.repository=${first.image.split('@')[0]}`];
        const shown = await execa(helm, ['template', 'op', first.chart, '--plain-http', ...values], { env });
        expect(shown.stdout).toContain('kind: Deployment');
      }
      const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { readonly version: string };
      expect(first.chart).toContain('/charts/addon-operator@sha256:');
      const helm = await pinnedHelm(4, { cacheDir }, signal);
      const chart = first.chart.split('@')[0] ?? '';
      const pull = [
        'pull',
        chart,
        '--version',
        manifest.version,
        '--plain-http',
        '--untar',
        '--untardir',
        home,
      ];
      await execa(helm, pull, { env });
      const linted = await execa(
        helm,
        ['lint', '--strict', join(home, 'addon-operator'), '--set=image.repository=x'],
        { env },
      );
      expect(linted.stdout).toContain('0 chart(s) failed');
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test('gives the chart the same digest for the same files and time, whenever it is packed', async () => {
    await using registry = await Registry.start(signal);
    const options = { registry: `${registry.host}/team`, isPlainHttp: true };
    const push = async () => await pushChart(options, '1.2.3', 1_700_000_000, signal);
    expect(await push()).toBe(await push());
  });
});
