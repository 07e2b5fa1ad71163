import { systemClock } from '@addon-operator/base/clock';
import { openRepository } from '@addon-operator/oci/open-repository';
import { expect, test } from 'vitest';
import { CosignSigner } from '../support/cosign-signer.ts';
import { DeliveryWorld, runsIn } from '../support/delivery-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { blobOf, manifestOf } from '../support/oci/artifacts.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { shHook } from '../support/world-files.ts';

const { signal } = new AbortController();
const EMPTY = 'application/vnd.oci.empty.v1+json';
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Attaches a bundle to a manifest as cosign does. */
async function attachBundle(url: string, digest: string, bundle: string): Promise<void> {
  const repository = openRepository(url, { clock: systemClock });
  const subject = await repository.resolve(digest, signal);
  const [config, layer] = [blobOf(Buffer.from('{}'), EMPTY), blobOf(Buffer.from(bundle), BUNDLE)];
  for (const blob of [config, layer]) await repository.pushBlob(blob, signal);
  const manifest = manifestOf(config, [layer], subject);
  await repository.pushManifest(manifest, manifest.descriptor.digest, signal);
}

describeRegistries('signatures of versions from a registry', () => {
  describeApiIndependent((backend) => {
    test.each([true, false])(
      'only what is signed with the key of the source runs (referrers API: %s)',
      async (hasReferrers) => {
        const name = uniqueName();
        const [signer, stranger] = [new CosignSigner(), new CosignSigner()];
        await using registry = await FaultRegistry.start(signal, { hasReferrers });
        await using lab = await DeliveryWorld.create(backend(), [name]);
        const { world } = lab;
        const url = registry.url('platform');
        const repository = `${url}/${name}`;
        const evil = { 'hooks/evil.sh': shHook('onStartup: 1', 'touch "$WORLD/executed"') };
        const first = await lab.push(url, name, '1.0.0');
        await attachBundle(repository, first, signer.bundle(first));
        await world.converge();
        await world.create('configmaps', {
          metadata: { name: 'release-keys' },
          data: { 'cosign.pub': signer.publicKey },
        } as never);
        await lab.create('ModuleSource', name, {
          url,
          interval: '10s',
          verify: { cosign: { keys: [{ configMapRef: { name: 'release-keys', key: 'cosign.pub' } }] } },
        });
        await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
        await lab.untilRuns(name, '1.0.0');

        const refused: readonly (readonly [string, string, (digest: string) => string | undefined])[] = [
          ['1.1.0', 'no signature', () => undefined],
          ['1.2.0', 'key', (digest) => stranger.bundle(digest)],
          ['1.3.0', first.slice(0, 20), () => signer.bundle(first)],
          ['1.4.0', 'key', (digest) => signer.bundle(digest, { signed: () => Buffer.from('{}') })],
        ];
        for (const [version, reason, bundleOf] of refused) {
          const digest = await lab.push(url, name, version, { files: evil });
          const bundle = bundleOf(digest);
          if (bundle !== undefined) await attachBundle(repository, digest, bundle);
          lab.passInterval();
          await lab.untilStatus('ModuleInstall', name, {
            pending: { reason: 'Unverified', version, digest, message: expect.stringContaining(reason) },
          });
        }
        const signed = await lab.push(url, name, '1.5.0');
        await attachBundle(repository, signed, signer.bundle(signed));
        lab.passInterval();
        await lab.untilRuns(name, '1.5.0');
        expect(await runsIn(world)).not.toMatch(/1\.[1-4]\.0/u);
        expect(await lab.hasFile('executed')).toBe(false);
      },
    );
  });
});
