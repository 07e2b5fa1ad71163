import { systemClock } from '@addon-operator/base/clock';
import { openRepository } from '@addon-operator/oci/open-repository';
import type { WritableRepository } from '@addon-operator/oci/repository';
import type { OldSignature } from '../cosign-signer.ts';
import { ACCOUNTS, type AccountName } from './accounts.ts';
import { blobOf, manifestOf } from './artifacts.ts';

const { signal } = new AbortController();
const EMPTY = 'application/vnd.oci.empty.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';

function open(url: string, username: AccountName | undefined): WritableRepository {
  if (username === undefined) return openRepository(url, { clock: systemClock });
  const { password } = ACCOUNTS[username];
  const credentials = async () => await Promise.resolve({ username, password });
  return openRepository(url, { clock: systemClock, credentials });
}

/** Attaches a bundle to a manifest in a registry, as cosign does. */
export async function attachBundle(
  url: string,
  digest: string,
  bundle: string,
  account?: AccountName,
): Promise<void> {
  const repository = open(url, account);
  const subject = await repository.resolve(digest, signal);
  const [config, layer] = [blobOf(Buffer.from('{}'), EMPTY), blobOf(Buffer.from(bundle), BUNDLE)];
  for (const blob of [config, layer]) await repository.pushBlob(blob, signal);
  const manifest = manifestOf(config, [layer], subject);
  await repository.pushManifest(manifest, manifest.descriptor.digest, signal);
}

/** Puts a signature of the older form at its tag, as `cosign sign --new-bundle-format=false` does. */
export async function pushOldSignature(
  url: string,
  digest: string,
  { payload, signature }: OldSignature,
): Promise<void> {
  const repository = open(url, undefined);
  const annotations = { 'dev.cosignproject.cosign/signature': signature };
  const [config, layer] = [
    blobOf(Buffer.from('{}'), CONFIG),
    { ...blobOf(Buffer.from(payload), SIMPLE_SIGNING), annotations },
  ];
  for (const blob of [config, layer]) await repository.pushBlob(blob, signal);
  await repository.pushManifest(manifestOf(config, [layer]), `${digest.replace(':', '-')}.sig`, signal);
}
