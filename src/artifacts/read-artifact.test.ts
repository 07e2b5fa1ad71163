import { gzipSync } from 'node:zlib';
import type { Descriptor } from '@addon-operator/oci/repository';
import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryRepository } from '../../test/support/oci-memory.ts';
import { type ReadArtifactOptions, readArtifact } from './read-artifact.ts';

const SIGNAL = new AbortController().signal;
const OCI = 'application/vnd.oci.image.manifest.v1+json';
const OUR_CONFIG = 'application/vnd.addon-operator.module.config.v1+json';
const OUR_LAYER = 'application/vnd.addon-operator.module.content.v1.tar+gzip';
const HELM_CONFIG = 'application/vnd.cncf.helm.config.v1+json';
const HELM_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const FLUX_LAYER = 'application/vnd.cncf.flux.content.v1.tar+gzip';
const IMAGE_CONFIG = 'application/vnd.oci.image.config.v1+json';
const IMAGE_LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const DOCKER = 'application/vnd.docker.distribution.manifest.v2+json';

let repository: MemoryRepository;

beforeEach(() => {
  repository = new MemoryRepository();
});

interface Pushed {
  readonly mediaType?: string;
  readonly config?: readonly [mediaType: string, content: unknown];
  readonly artifactType?: string;
  readonly layers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

function pushed({
  config = ['application/vnd.oci.empty.v1+json', {}],
  layers = [],
  mediaType = OCI,
  ...more
}: Pushed): Descriptor {
  return repository.putManifest({
    schemaVersion: 2,
    mediaType,
    config: repository.put(config[0], JSON.stringify(config[1])),
    layers: layers.map((type) => repository.put(type, gzipSync(type))),
    ...more,
  });
}

async function read(descriptor: Descriptor, options?: ReadArtifactOptions) {
  return await readArtifact(repository, descriptor, SIGNAL, options);
}

describe('recognized', () => {
  test('by its config, our module has all facts of it', async () => {
    const facts = {
      name: 'web',
      version: '1.4.2',
      requires: { db: '>=1' },
      operator: '>=1.2',
      changelog: 'New.',
    };
    const descriptor = pushed({
      config: [OUR_CONFIG, { ...facts, digest: 'sha256:1' }],
      layers: [OUR_LAYER],
    });
    expect(await read(descriptor, { tag: '9.9.9' })).toEqual({
      format: 'module',
      digest: descriptor.digest,
      facts,
      layers: [expect.objectContaining({ mediaType: OUR_LAYER })],
    });
  });

  test.each<[string, Pushed, string | undefined, string, object]>([
    [
      'our module by its artifact type',
      { artifactType: 'application/vnd.addon-operator.module.v1', layers: [OUR_LAYER] },
      'v1.4.2',
      'module',
      { version: '1.4.2' },
    ],
    [
      'our module by its layer',
      { layers: [OUR_LAYER], annotations: { 'org.opencontainers.image.title': 'web' } },
      '1.0.0',
      'module',
      { name: 'web', version: '1.0.0' },
    ],
    [
      'a chart',
      {
        config: [HELM_CONFIG, { name: 'web', version: '1.2.3+build', requires: { a: 'b' } }],
        layers: [HELM_LAYER],
      },
      '1.2.3_build',
      'helm-chart',
      { name: 'web', version: '1.2.3+build' },
    ],
    [
      'a chart with provenance',
      {
        config: [HELM_CONFIG, { name: 'web', version: '1.2.3' }],
        layers: ['application/vnd.cncf.helm.chart.provenance.v1.prov', HELM_LAYER],
      },
      'stable',
      'helm-chart',
      { name: 'web', version: '1.2.3' },
    ],
    [
      'an artifact of Flux by a version tag',
      { config: ['application/vnd.cncf.flux.config.v1+json', {}], layers: [FLUX_LAYER] },
      '1.2.3_build',
      'flux',
      { version: '1.2.3+build' },
    ],
    [
      'an artifact of Flux by an annotation',
      { layers: [FLUX_LAYER], annotations: { 'org.opencontainers.image.version': 'v2.0.0' } },
      'stable',
      'flux',
      { version: '2.0.0' },
    ],
    [
      'an image of OCI',
      { config: [IMAGE_CONFIG, {}], layers: [IMAGE_LAYER, IMAGE_LAYER] },
      'v1.0.0',
      'deckhouse',
      { version: '1.0.0' },
    ],
    [
      'an image of docker',
      {
        mediaType: DOCKER,
        config: ['application/vnd.docker.container.image.v1+json', {}],
        layers: ['application/vnd.docker.image.rootfs.diff.tar.gzip'],
      },
      'v1.0.0',
      'deckhouse',
      { version: '1.0.0' },
    ],
  ])('%s', async (_title, what, tag, format, facts) => {
    const artifact = await read(pushed(what), tag === undefined ? {} : { tag });
    expect(artifact).toMatchObject({ format });
    expect(artifact.facts).toEqual(facts);
    expect(artifact.layers.some(({ mediaType }) => mediaType.endsWith('.prov'))).toBe(false);
  });

  test('an index of images is that of the platform', async () => {
    const arm = pushed({ config: [IMAGE_CONFIG, { arm: true }], layers: [IMAGE_LAYER] });
    const amd = pushed({ config: [IMAGE_CONFIG, {}], layers: [IMAGE_LAYER] });
    const index = repository.putManifest({
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [
        { ...arm, platform: { os: 'linux', architecture: 'arm64' } },
        { ...amd, platform: { os: 'linux', architecture: 'amd64' } },
        { ...amd, artifactType: 'x', platform: { os: 'unknown', architecture: 'unknown' } },
      ],
    });
    expect(await read(index, { tag: 'v1.0.0', architecture: 'arm64' })).toMatchObject({ digest: arm.digest });
    expect(await read(index, { tag: 'v1.0.0', architecture: 'amd64' })).toMatchObject({ digest: amd.digest });
    await expect(read(index, { tag: 'v1.0.0', architecture: 's390x' })).rejects.toThrow(
      /index without linux\/s390x, it has linux\/arm64, linux\/amd64, unknown\/unknown; accepted are/,
    );
  });
});

describe('refused', () => {
  test.each<[string, () => Descriptor, RegExp]>([
    [
      'another config and layer',
      () => pushed({ config: ['application/vnd.wasm.config.v1+json', {}], layers: ['application/wasm'] }),
      /is not a module: it is .*with application\/vnd\.wasm\.config\.v1\+json, application\/wasm; accepted are a module of addon-operator \(config .*helm chart.*Flux.*Deckhouse/,
    ],
    [
      'no layers',
      () => pushed({ config: [OUR_CONFIG, { version: '1.0.0' }] }),
      /has 0 layers of content instead of one/,
    ],
    [
      'two layers of content',
      () => pushed({ config: [HELM_CONFIG, { version: '1.0.0' }], layers: [HELM_LAYER, HELM_LAYER] }),
      /has 2 layers of content/,
    ],
    [
      'a layer that does not belong to the config',
      () => pushed({ config: [OUR_CONFIG, { version: '1.0.0' }], layers: [OUR_LAYER, 'text/plain'] }),
      /has a layer of type text\/plain/,
    ],
    [
      'zstd',
      () => pushed({ config: [IMAGE_CONFIG, {}], layers: ['application/vnd.oci.image.layer.v1.tar+zstd'] }),
      /has a layer of type .*zstd/,
    ],
    ['no version', () => pushed({ layers: [FLUX_LAYER] }), /has no version: name it by a version tag/],
    [
      'a version that is none',
      () => pushed({ config: [OUR_CONFIG, { version: 'latest' }], layers: [OUR_LAYER] }),
      /has no version/,
    ],
    [
      'a config that is no object',
      () => pushed({ config: [OUR_CONFIG, ['x']], layers: [OUR_LAYER] }),
      /the config of .* is not a JSON object/,
    ],
    [
      'a config of more than a mebibyte',
      () =>
        pushed({
          config: [OUR_CONFIG, { version: '1.0.0', changelog: 'x'.repeat(1_048_577) }],
          layers: [OUR_LAYER],
        }),
      /the config of .* more than 1048576 bytes/,
    ],
    ['no JSON', () => repository.putManifest('hello'), /the manifest is not a JSON object/],
    ['a list', () => repository.putManifest('[]'), /is not a JSON object/],
    [
      'layers without digests',
      () =>
        repository.putManifest({
          mediaType: OCI,
          config: repository.put(OUR_CONFIG, '{}'),
          layers: [{ mediaType: OUR_LAYER }],
        }),
      /lacks mediaType, size or a sha256 digest/,
    ],
    [
      'more than the limit',
      () =>
        repository.putManifest({
          mediaType: OCI,
          config: repository.put(OUR_CONFIG, '{}'),
          layers: [{ ...repository.put(OUR_LAYER, ''), size: 67_108_865 }],
        }),
      /has 67108865 bytes of content, at most 67108864/,
    ],
    [
      'an index of modules',
      () =>
        repository.putManifest({
          mediaType: 'application/vnd.oci.image.index.v1+json',
          manifests: [
            {
              ...pushed({ config: [OUR_CONFIG, { version: '1.0.0' }], layers: [OUR_LAYER] }),
              platform: { os: 'linux', architecture: 'amd64' },
            },
          ],
        }),
      /is an index, whose manifest for linux\/amd64 is a module of addon-operator; only indexes of images/,
    ],
    [
      'an index of an index',
      () =>
        repository.putManifest({
          mediaType: 'application/vnd.oci.image.index.v1+json',
          manifests: [
            {
              ...repository.putManifest({ mediaType: 'application/vnd.oci.image.index.v1+json' }),
              platform: { os: 'linux', architecture: 'amd64' },
            },
          ],
        }),
      /is not a module: it is application\/vnd\.oci\.image\.index/,
    ],
    [
      'an empty index',
      () =>
        repository.putManifest({ mediaType: 'application/vnd.docker.distribution.manifest.list.v2+json' }),
      /it has no platforms/,
    ],
  ])('%s', async (_title, push, message) => {
    const descriptor = push();
    await expect(read(descriptor, { architecture: 'amd64' })).rejects.toMatchObject({
      code: 'ARTIFACT_INVALID',
      message: expect.stringMatching(message),
    });
    expect(repository.calls.filter((call) => call.startsWith('blob')).length).toBeLessThanOrEqual(1);
  });
});
