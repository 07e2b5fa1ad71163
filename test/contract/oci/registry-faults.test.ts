import { randomBytes } from 'node:crypto';
import { codeOf, messageOf, retryAfterOf } from '@addon-operator/base/errors';
import { openRepository, type RepositoryOptions } from '@addon-operator/oci/open-repository';
import type { WritableRepository } from '@addon-operator/oci/repository';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { blobOf, contentOf, manifestOf, pushArtifact } from '../../support/oci/artifacts.ts';
import { FaultRegistry, type RegistryFault } from '../../support/oci/fault-registry.ts';
import { describeRegistries } from '../../support/oci/oci-suite.ts';

const { signal } = new AbortController();
const MANIFEST = '/manifests/';
const BLOB = '/blobs/sha256:';

/** Pauses before further attempts take no time. */
class HurriedClock extends FakeClock {
  override async sleep(ms: number, signal: AbortSignal): Promise<void> {
    // Limits of waiting for a response are not over: only the pauses, which are shorter, are.
    if (ms < 10_000) return await Promise.resolve();
    return await super.sleep(ms, signal);
  }
}

describeRegistries('a client of a registry with faults', () => {
  let registry: FaultRegistry;
  let mirror: FaultRegistry;
  beforeAll(async () => {
    registry = await FaultRegistry.start(signal);
    mirror = await FaultRegistry.start(signal);
  });
  afterEach(async () => {
    await registry.setFaults();
    await mirror.setFaults();
  });
  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    await mirror[Symbol.asyncDispose]();
  });

  const open = (name: string, options: Partial<RepositoryOptions> = {}): WritableRepository =>
    openRepository(registry.url(name), { clock: new HurriedClock(Date.UTC(2026, 0, 1)), ...options });

  /** What a method throws while the registry has these faults, and the requests that it sent. */
  async function failureOf(
    work: () => Promise<unknown>,
    ...faults: readonly RegistryFault[]
  ): Promise<{ code: unknown; message: string; retryAfterMs: number | undefined; requests: number }> {
    await registry.setFaults(...faults);
    await registry.clearLog();
    const error: unknown = await work().then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    );
    const requests = (await registry.accessLog()).length;
    return { code: codeOf(error), message: messageOf(error), retryAfterMs: retryAfterOf(error), requests };
  }

  test('429 is one request and a time to wait, and HEAD is not followed by GET', async () => {
    const repository = open('faults/busy');
    const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
    const busy = { path: '/v2/', status: 429, headers: { 'Retry-After': '1800' }, body: '{}' };
    for (const work of [
      async () => await repository.resolve('1.0.0', signal),
      async () => await repository.manifest(descriptor.digest, signal),
      async () => await contentOf(repository.blob(descriptor, signal)),
      async () => await repository.tags(signal),
      async () => await repository.referrers(descriptor.digest, signal),
    ]) {
      expect(await failureOf(work, busy)).toEqual({
        code: 'REGISTRY_UNREACHABLE',
        message: expect.stringMatching(/^oci:.*faults\/busy: .* returned 429; it asks to wait for 1800 s$/),
        retryAfterMs: 1_800_000,
        requests: 1,
      });
    }
    await registry.setFaults();
    expect(await repository.resolve('1.0.0', signal)).toEqual(descriptor);
  });

  for (const [what, fault, code, message] of [
    [
      '401 without a challenge',
      { path: MANIFEST, status: 401, body: '{"errors":[{"code":"UNAUTHORIZED","message":"who?"}]}' },
      'REGISTRY_REFUSED',
      /\/v2\/faults\/bad\/manifests\/.* returned 401: UNAUTHORIZED who\?|returned 401; no account was given for it/,
    ],
    ['403', { path: MANIFEST, status: 403, body: '<html>' }, 'REGISTRY_REFUSED', /returned 403$/],
    [
      '503 with a date',
      { path: MANIFEST, status: 503, headers: { 'Retry-After': 'Thu, 01 Jan 2026 00:00:10 GMT' } },
      'REGISTRY_UNREACHABLE',
      /returned 503; it asks to wait for 10 s/,
    ],
    ['502', { path: MANIFEST, status: 502, body: 'Bad Gateway' }, 'REGISTRY_UNREACHABLE', /returned 502$/],
    ['404', { path: MANIFEST, status: 404 }, 'REGISTRY_NOT_FOUND', /there is no manifest sha256:/],
    [
      'other bytes',
      { path: MANIFEST, flipAt: 5 },
      'ARTIFACT_INVALID',
      /the manifest sha256:\w+ has the digest sha256:/,
    ],
    ['a cut', { path: MANIFEST, cutAt: 40 }, 'REGISTRY_UNREACHABLE', /manifests\/sha256:\w+: aborted/],
    [
      'a long body that Content-Length announces',
      { path: MANIFEST, headers: { 'Content-Length': '104857600' } },
      'ARTIFACT_INVALID',
      /the response is longer than 4194304 bytes/,
    ],
    [
      'a long body without a length',
      {
        path: MANIFEST,
        body: 'x'.repeat(5_000_000),
        headers: { 'Transfer-Encoding': 'chunked' },
        remove: ['Content-Length'],
      },
      'ARTIFACT_INVALID',
      /the response is longer than 4194304 bytes/,
    ],
    [
      'a redirect to itself',
      { path: MANIFEST, status: 307, headers: { Location: '/v2/faults/bad/manifests/x' } },
      'REGISTRY_UNREACHABLE',
      /it redirects more than 5 times/,
    ],
  ] as const) {
    test(`a manifest by digest fails with ${code}, when the registry responds with ${what}`, async () => {
      const repository = open('faults/bad');
      const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
      const failure = await failureOf(
        async () => await repository.manifest(descriptor.digest, signal),
        fault,
      );
      expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
      await registry.setFaults();
      expect((await repository.manifest(descriptor.digest, signal)).descriptor).toEqual(descriptor);
    });
  }

  test('a tag is resolved with GET, when HEAD names no digest or is not allowed', async () => {
    const repository = open('faults/head');
    const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
    for (const fault of [
      { remove: ['Docker-Content-Digest'] },
      { status: 405 },
      { headers: { 'Docker-Content-Digest': 'x' } },
    ]) {
      await registry.setFaults({ method: 'HEAD', path: MANIFEST, ...fault });
      expect(await repository.resolve('1.0.0', signal)).toEqual(descriptor);
    }
  });

  test('a tag that moves between HEAD and GET keeps the digest of HEAD', async () => {
    const repository = open('faults/moved');
    const first = await pushArtifact(repository, 'stable', randomBytes(10));
    const second = await pushArtifact(repository, '', randomBytes(10));
    const path = '/v2/faults/moved/manifests/';
    await registry.setFaults({
      method: 'HEAD',
      path: `${path}stable$`,
      times: 1,
      afterwards: { from: `${path}${second.descriptor.digest}`, to: `${path}stable` },
    });
    const resolved = await repository.resolve('stable', signal);
    expect(resolved).toEqual(first.descriptor);
    const { bytes } = await repository.manifest(first.descriptor.digest, signal);
    expect(Buffer.from(bytes)).toEqual(first.bytes);
    expect(await repository.resolve('stable', signal)).toEqual(second.descriptor);
  });

  test('an empty list of tags is empty, and a list that is none an error', async () => {
    const repository = open('faults/tags');
    await pushArtifact(repository, '1.0.0', randomBytes(10));
    const path = '/tags/list';
    for (const body of ['{"name":"faults/tags","tags":null}', '{"tags":[]}']) {
      await registry.setFaults({ path, body });
      expect(await repository.tags(signal)).toEqual([]);
    }
    for (const body of ['{}', '[]', '<html>', '{"tags":{}}']) {
      const failure = await failureOf(async () => await repository.tags(signal), { path, body });
      expect(failure).toMatchObject({ code: 'REGISTRY_UNREACHABLE', requests: 1 });
    }
  });

  test('tags of all pages are listed, but not of a page at another host, nor without end', async () => {
    const repository = open('faults/pages');
    await pushArtifact(repository, '1.0.0', randomBytes(10));
    const page = (tags: readonly string[], next?: string): Partial<RegistryFault> => ({
      body: JSON.stringify({ tags }),
      ...(next !== undefined && { headers: { Link: `<${next}>; rel="next"` } }),
    });
    const list = '/v2/faults/pages/tags/list';
    await registry.setFaults(
      { path: `${list}$`, ...page(['b', '../x'], `${list}?last=b`) },
      { path: 'last=b$', ...page(['a'], 'list?last=a') },
      { path: 'last=a$', ...page(['c']) },
    );
    expect(await repository.tags(signal)).toEqual(['b', 'a', 'c']);
    expect(
      await failureOf(async () => await repository.tags(signal), {
        path: list,
        ...page(['a'], `http://${mirror.host}${list}`),
      }),
    ).toMatchObject({
      code: 'ARTIFACT_INVALID',
      message: expect.stringContaining('continues at another host'),
    });
    expect(
      await failureOf(async () => await repository.tags(signal), { path: list, ...page(['a'], list) }),
    ).toMatchObject({
      code: 'ARTIFACT_INVALID',
      message: expect.stringContaining('more than 200 pages'),
      requests: 200,
    });
  });

  test('a blob that is cut is resumed where it ended', async () => {
    const repository = open('faults/cut');
    const layer = randomBytes(100_000);
    await pushArtifact(repository, '1.0.0', layer);
    await registry.setFaults({ path: BLOB, times: 2, cutAt: 30_000 });
    await registry.clearLog();
    expect(await contentOf(repository.blob(blobOf(layer), signal))).toEqual(layer);
    const ranges = (await registry.accessLog()).map(({ range }) => range);
    expect(ranges).toEqual([undefined, 'bytes=30000-99999', 'bytes=60000-99999']);
  });

  test('a blob that is cut is read again from its start, when the registry has no ranges', async () => {
    const repository = open('faults/no-ranges');
    const text = 'x'.repeat(100_000);
    await pushArtifact(repository, '1.0.1', Buffer.from(text));
    await registry.setFaults(
      { path: BLOB, times: 1, cutAt: 30_000 },
      { path: BLOB, status: 200, body: text },
    );
    expect((await contentOf(repository.blob(blobOf(Buffer.from(text)), signal))).toString()).toBe(text);
  });

  test('a blob that is always cut ends after five attempts', async () => {
    const repository = open('faults/always-cut');
    const layer = randomBytes(1_000);
    await pushArtifact(repository, '1.0.0', layer);
    const read = async (): Promise<Buffer> => await contentOf(repository.blob(blobOf(layer), signal));
    expect(await failureOf(read, { path: BLOB, cutAt: 10 })).toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      requests: 5,
    });
  });

  test('a blob with other bytes, too many or too few is an error', async () => {
    const repository = open('faults/bytes');
    const layer = randomBytes(1_000);
    await pushArtifact(repository, '1.0.0', layer);
    const read = async (): Promise<Buffer> => await contentOf(repository.blob(blobOf(layer), signal));
    for (const [fault, message] of [
      [{ flipAt: 500 }, 'has the digest sha256:'],
      [{ body: 'x'.repeat(2_000) }, 'is longer than the 1000 bytes'],
      [{ body: 'x' }, 'has 1 bytes, its descriptor says 1000'],
      [
        { status: 206, body: 'x', headers: { 'Content-Range': 'bytes 0-0/1000' } },
        'has 1 bytes, its descriptor says 1000',
      ],
    ] as const) {
      expect(await failureOf(read, { path: BLOB, ...fault })).toMatchObject({
        code: 'ARTIFACT_INVALID',
        message: expect.stringContaining(message),
        requests: 1,
      });
    }
  });

  test('content comes from mirrors first, from the next one when one fails, and tags never', async () => {
    const layer = randomBytes(100_000);
    const manifest = await pushArtifact(open('faults/mirrored'), '1.0.0', layer);
    const failures: string[] = [];
    const onMirrorFailure = (url: string, error: unknown): void =>
      void failures.push(`${url} ${codeOf(error)}`);
    const mirrors = [mirror.url('empty'), mirror.url('copy')];
    const repository = open('faults/mirrored', { mirrors, onMirrorFailure });
    await pushArtifact(openRepository(mirror.url('copy'), { clock: new FakeClock() }), '9.9.9', layer);
    await registry.clearLog();
    await mirror.clearLog();
    expect(await repository.tags(signal)).toEqual(['1.0.0']);
    await repository.manifest(manifest.descriptor.digest, signal);
    // Half of it from the mirror, until that is gone.
    await mirror.setFaults(
      { path: '/v2/empty/blobs/', status: 404 },
      { path: '/v2/copy/blobs/', times: 1, cutAt: 50_000 },
      { path: '/v2/copy/blobs/', status: 500 },
    );
    expect(await contentOf(repository.blob(blobOf(layer), signal))).toEqual(layer);
    expect(failures).toEqual([
      `${mirrors[0]} REGISTRY_NOT_FOUND`,
      `${mirrors[0]} REGISTRY_NOT_FOUND`,
      `${mirrors[1]} REGISTRY_UNREACHABLE`,
    ]);
    expect(await registry.accessLog()).toMatchObject([
      { path: '/v2/faults/mirrored/tags/list' },
      { range: 'bytes=50000-99999' },
    ]);
  });

  test('a mirror with other bytes is not asked again', async () => {
    const layer = randomBytes(1_000);
    await pushArtifact(open('faults/bad-mirror'), '1.0.0', layer);
    const repository = open('faults/bad-mirror', { mirrors: [mirror.url('bad')] });
    await pushArtifact(openRepository(mirror.url('bad'), { clock: new FakeClock() }), '1.0.0', layer);
    await mirror.setFaults({ path: '/v2/bad/blobs/', flipAt: 3 });
    await expect(contentOf(repository.blob(blobOf(layer), signal))).rejects.toHaveProperty(
      'code',
      'ARTIFACT_INVALID',
    );
    await mirror.clearLog();
    expect(await contentOf(repository.blob(blobOf(layer), signal))).toEqual(layer);
    expect(await mirror.accessLog()).toEqual([]);
  });

  test('referrers come from the tag, when the registry has no API for them', async () => {
    const repository = open('faults/attached');
    const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
    const signature = await pushArtifact(repository, '', randomBytes(10), descriptor);
    for (const fault of [{ status: 404 }, { status: 405 }, { body: '<html>' }]) {
      await registry.setFaults({ path: '/referrers/', ...fault });
      const found = await repository.referrers(descriptor.digest, signal);
      expect(found.map(({ digest }) => digest)).toEqual([signature.descriptor.digest]);
    }
    // A refusal is no missing API.
    const read = async (): Promise<unknown> => await repository.referrers(descriptor.digest, signal);
    expect(await failureOf(read, { path: '/referrers/', status: 403 })).toMatchObject({
      code: 'REGISTRY_REFUSED',
    });
    expect(await failureOf(read, { path: '/referrers/', status: 500 })).toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
    });
  });

  test('the tag of referrers is not written, when the registry confirms the subject', async () => {
    const repository = open('faults/confirmed');
    const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
    await registry.setFaults({
      method: 'PUT',
      path: MANIFEST,
      headers: { 'OCI-Subject': descriptor.digest },
    });
    await pushArtifact(repository, '', randomBytes(10), descriptor);
    expect(await repository.tags(signal)).toEqual(['1.0.0']);
  });

  test('a push that ended before the tag of referrers is completed by the next one', async () => {
    const repository = open('faults/half-push');
    const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
    const layer = randomBytes(10);
    const push = async (): Promise<unknown> => await pushArtifact(repository, '', layer, descriptor);
    const away = { path: '/referrers/', status: 404 };
    await failureOf(push, { method: 'PUT', path: '/manifests/sha256-', status: 500 }, away);
    await registry.setFaults(away);
    expect(await repository.referrers(descriptor.digest, signal)).toEqual([]);
    await push();
    expect(await repository.referrers(descriptor.digest, signal)).toHaveLength(1);
  });

  test('an upload is sent again after a cut, and its source opened anew', async () => {
    const repository = open('faults/upload');
    const layer = randomBytes(1_000);
    // The first cut may be that of an idle connection, and is repeated at once.
    await registry.setFaults({ method: 'PUT', path: '/blobs/uploads/', times: 2, cutAt: -1 });
    let opened = 0;
    const content = blobOf(layer);
    const counted = { ...content, open: () => ((opened += 1), content.open()) };
    expect(await repository.pushBlob(counted, signal)).toBe(true);
    expect(opened).toBe(3);
    expect(await contentOf(repository.blob(content, signal))).toEqual(layer);
  });

  test('a manifest whose blobs are refused is not there', async () => {
    const repository = open('faults/refused');
    const config = blobOf(Buffer.from('{}'));
    const manifest = manifestOf(config, []);
    const push = async (): Promise<unknown> => await repository.pushManifest(manifest, '1.0.0', signal);
    const body = '{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown"}]}';
    expect(await failureOf(push, { method: 'PUT', path: MANIFEST, status: 400, body })).toMatchObject({
      code: 'REGISTRY_REFUSED',
      message: expect.stringContaining('returned 400: MANIFEST_BLOB_UNKNOWN blob unknown'),
    });
  });

  test('a registry that does not respond is given up', async () => {
    const clock = new FakeClock();
    const repository = openRepository(registry.url('faults/hang'), { clock });
    await registry.setFaults({ path: '/v2/', hang: true });
    const asked = repository.tags(signal).catch((error: unknown) => error);
    await clock.untilAsleep();
    await clock.advance(30_000);
    expect(await asked).toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      message: `http://${registry.host}/v2/faults/hang/tags/list: no response within 30 s`,
    });
  });

  test('a registry that is away is named', async () => {
    const repository = openRepository('oci://localhost:1/web', { clock: new HurriedClock() });
    await expect(repository.resolve('1.0.0', signal)).rejects.toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      message: expect.stringMatching(/^http:\/\/localhost:1\/v2\/web\/manifests\/1\.0\.0: .*ECONNREFUSED/),
    });
  });
});
