import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { digestOf } from '@addon-operator/oci/digest';
import { openRepository } from '@addon-operator/oci/open-repository';

const { signal } = new AbortController();
const directory = await mkdtemp(join(tmpdir(), 'layout-'));
const repository = openRepository(`oci-layout://${directory}/web`, { clock: systemClock });

const bytes = Buffer.from('{}');
const config = {
  mediaType: 'application/vnd.oci.empty.v1+json',
  digest: digestOf(bytes),
  size: bytes.length,
};
async function* open() {
  yield bytes;
}
console.log(
  await repository.pushBlob({ ...config, open }, signal),
  await repository.pushBlob({ ...config, open }, signal),
);

const mediaType = 'application/vnd.oci.image.manifest.v1+json';
const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [] }));
const descriptor = { mediaType, digest: digestOf(manifest), size: manifest.length };
await repository.pushManifest({ descriptor, bytes: manifest }, '1.0.0', signal);
await repository.pushManifest({ descriptor, bytes: manifest }, 'stable', signal);

console.log(
  await repository.tags(signal),
  (await repository.resolve('stable', signal))?.digest === descriptor.digest,
);
await rm(directory, { recursive: true });
