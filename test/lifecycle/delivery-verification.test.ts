import { expect, test } from 'vitest';
import { CosignSigner, type OldSignature } from '../support/cosign-signer.ts';
import { DeliveryWorld, runsIn } from '../support/delivery-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { attachBundle, pushOldSignature } from '../support/oci/cosign-artifacts.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { shHook } from '../support/world-files.ts';

const { signal } = new AbortController();

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

        const bundle = (digest: string, content: string) => attachBundle(repository, digest, content);
        const old = (digest: string, signature: OldSignature) =>
          pushOldSignature(repository, digest, signature);
        const another = first.slice(0, 20);
        const refused: readonly (readonly [string, string, (digest: string) => Promise<void>])[] = [
          ['1.1.0', 'no signature', async () => {}],
          ['1.2.0', 'key', (digest) => bundle(digest, stranger.bundle(digest))],
          ['1.3.0', another, (digest) => bundle(digest, signer.bundle(first))],
          [
            '1.4.0',
            'key',
            (digest) => bundle(digest, signer.bundle(digest, { signed: () => Buffer.from('{}') })),
          ],
          [
            '1.5.0',
            'key',
            (digest) => bundle(digest, signer.bundle(first, { signed: naming(first, digest) })),
          ],
          ['1.6.0', another, (digest) => old(digest, signer.oldSignature(first))],
          [
            '1.7.0',
            'key',
            (digest) =>
              old(digest, {
                ...signer.oldSignature(digest),
                signature: signer.oldSignature(first).signature,
              }),
          ],
        ];
        for (const [version, reason, sign] of refused) {
          const digest = await lab.push(url, name, version, { files: evil });
          await sign(digest);
          lab.passInterval();
          await lab.untilStatus('ModuleInstall', name, {
            pending: { reason: 'Unverified', version, digest, message: expect.stringContaining(reason) },
          });
        }
        const signed = await lab.push(url, name, '1.8.0');
        await bundle(signed, signer.bundle(signed));
        lab.passInterval();
        await lab.untilRuns(name, '1.8.0');
        // A copy in a mirror is under another name than the one that was signed.
        const copied = await lab.push(url, name, '1.9.0');
        await old(copied, signer.oldSignature(copied, { repository: 'registry.example.com/elsewhere' }));
        lab.passInterval();
        await lab.untilRuns(name, '1.9.0');
        expect(await runsIn(world)).not.toMatch(/1\.[1-7]\.0/u);
        expect(await lab.hasFile('executed')).toBe(false);
      },
    );
  });
});

/** Changes the subject of a statement after it was signed. */
function naming(signed: string, digest: string): (payload: Buffer) => Buffer {
  const [from = '', to = ''] = [signed, digest].map((each) => each.slice('sha256:'.length));
  return (payload) => Buffer.from(payload.toString().replace(from, to));
}
