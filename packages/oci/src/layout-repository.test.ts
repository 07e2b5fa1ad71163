import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blobOf, contentOf, manifestOf, pushArtifact } from '../../../test/support/oci/artifacts.ts';
import { LayoutRepository } from './layout-repository.ts';

const { signal } = new AbortController();
let directory: string;
let repository: LayoutRepository;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'layout-'));
  repository = new LayoutRepository(join(directory, 'web'));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const blobFile = (digest: string): string =>
  join(directory, 'web/blobs/sha256', digest.slice('sha256:'.length));

test('a layout has the files of the specification, and nothing else', async () => {
  const { descriptor } = await pushArtifact(repository, '1.0.0', Buffer.from('layer'));
  expect((await readdir(join(directory, 'web'))).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
  expect(await readFile(join(directory, 'web/oci-layout'), 'utf8')).toBe('{"imageLayoutVersion":"1.0.0"}');
  const index: unknown = JSON.parse(await readFile(join(directory, 'web/index.json'), 'utf8'));
  expect(index).toEqual({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...descriptor, annotations: { 'org.opencontainers.image.ref.name': '1.0.0' } }],
  });
  expect(await readdir(join(directory, 'web/blobs/sha256'))).toHaveLength(3);
});

test('the manifest of a tag that moved is still found by its digest', async () => {
  const first = await pushArtifact(repository, 'stable', Buffer.from('1'));
  const second = await pushArtifact(repository, 'stable', Buffer.from('2'));
  expect(await repository.resolve('stable', signal)).toEqual(second.descriptor);
  expect(await repository.resolve(first.descriptor.digest, signal)).toEqual(first.descriptor);
  expect(await repository.tags()).toEqual(['stable']);
  const index = JSON.parse(await readFile(join(directory, 'web/index.json'), 'utf8')) as {
    manifests: unknown[];
  };
  expect(index.manifests).toHaveLength(2);
});

test('pushes at the same time lose no tag', async () => {
  const tags = Array.from({ length: 20 }, (_, index) => `1.0.${index}`);
  const manifest = await pushArtifact(repository, tags[0] ?? '', Buffer.from('layer'));
  await Promise.all(tags.map(async (tag) => await repository.pushManifest(manifest, tag, signal)));
  expect([...(await repository.tags())].toSorted()).toEqual(tags.toSorted());
});

test('content that was damaged on the disk is an error', async () => {
  const { descriptor } = await pushArtifact(repository, '1.0.0', Buffer.from('layer'));
  const layer = blobOf(Buffer.from('layer'));
  await writeFile(blobFile(layer.digest), 'layeR');
  await expect(contentOf(repository.blob(layer, signal))).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
  await writeFile(blobFile(layer.digest), 'lay');
  await expect(contentOf(repository.blob(layer, signal))).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
  await writeFile(blobFile(descriptor.digest), '{}');
  await expect(repository.manifest(descriptor.digest, signal)).rejects.toHaveProperty(
    'code',
    'ARTIFACT_INVALID',
  );
});

test('content that is missing is not found', async () => {
  const { descriptor } = await pushArtifact(repository, '1.0.0', Buffer.from('layer'));
  const layer = blobOf(Buffer.from('layer'));
  await rm(blobFile(layer.digest));
  await rm(blobFile(descriptor.digest));
  await expect(contentOf(repository.blob(layer, signal))).rejects.toHaveProperty(
    'code',
    'REGISTRY_NOT_FOUND',
  );
  await expect(repository.manifest(descriptor.digest, signal)).rejects.toHaveProperty(
    'code',
    'REGISTRY_NOT_FOUND',
  );
});

test('content that is pushed with another digest is refused, and nothing of it is left', async () => {
  const other = blobOf(Buffer.from('other'));
  const wrong = { ...blobOf(Buffer.from('layer')), open: () => other.open() };
  await expect(repository.pushBlob(wrong, signal)).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
  expect(await readdir(join(directory, 'web/blobs/sha256'))).toEqual([]);
});

test.each(['../../etc/passwd', 'sha256:../../x', `sha512:${'a'.repeat(128)}`, ''])(
  'a digest %j names no file',
  async (digest) => {
    await pushArtifact(repository, '1.0.0', Buffer.from('layer'));
    await expect(repository.manifest(digest, signal)).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
    await expect(
      contentOf(repository.blob({ mediaType: '', digest, size: 1 }, signal)),
    ).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
  },
);

test.each([
  ['{', 'the manifest is not a JSON object'],
  [
    '{"manifests":[{"digest":"sha256:../x","size":1}]}',
    'a descriptor in the manifest lacks mediaType, size or a sha256 digest',
  ],
])('an index.json %s is refused', async (content, problem) => {
  await mkdir(join(directory, 'web'));
  await writeFile(join(directory, 'web/index.json'), content);
  await expect(repository.tags()).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: expect.stringContaining(problem),
  });
  const push = repository.pushManifest(manifestOf(blobOf(Buffer.from('{}')), []), '1.0.0', signal);
  await expect(push).rejects.toHaveProperty('code', 'ARTIFACT_INVALID');
});

test.each([[[]], [['oci-layout']]])('a directory with %j becomes a layout without tags', async (names) => {
  await mkdir(join(directory, 'web'));
  for (const name of names) await writeFile(join(directory, 'web', name), '');
  await repository.prepare();
  expect(await repository.tags()).toEqual([]);
  await pushArtifact(repository, '1.0.0', Buffer.from('layer'));
  await repository.prepare();
  expect(await repository.tags()).toEqual(['1.0.0']);
});

test('a directory with other files is not made a layout', async () => {
  await mkdir(join(directory, 'web'));
  await writeFile(join(directory, 'web/a.txt'), '');
  await expect(repository.prepare()).rejects.toMatchObject({
    code: 'REQUEST_REFUSED',
    message: expect.stringContaining('such as a.txt; to fix: name a new or an empty directory'),
  });
  expect(await readdir(join(directory, 'web'))).toEqual(['a.txt']);
});

test('a directory that is no layout is named', async () => {
  await expect(repository.tags()).rejects.toMatchObject({
    code: 'REGISTRY_NOT_FOUND',
    message: `oci-layout://${directory}/web: there is no index.json: it is not an OCI image layout`,
  });
});
