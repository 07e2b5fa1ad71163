import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CosignSigner } from '../support/cosign-signer.ts';
import { DeliveryWorld, runsIn } from '../support/delivery-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { attachBundle, pushOldSignature } from '../support/oci/cosign-artifacts.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';

const { signal } = new AbortController();

/** Pushes versions to channels: `bundle` and `old` are signed so, `unsigned` is not. Returns the digest of `old`. */
async function pushSigned(
  lab: DeliveryWorld,
  url: string,
  name: string,
  signer: CosignSigner,
): Promise<string> {
  const repository = `${url}/${name}`;
  const first = await lab.push(url, name, '1.0.0', { channel: 'bundle' });
  await attachBundle(repository, first, signer.bundle(first));
  const second = await lab.push(url, name, '1.1.0', { channel: 'old' });
  const signature = signer.oldSignature(second, { repository: repository.slice('oci://'.length) });
  await pushOldSignature(repository, second, signature);
  await lab.push(url, name, '1.2.0', { channel: 'unsigned' });
  return second;
}

describeRegistries('mirrors of signed modules', () => {
  describeApiIndependent((backend) => {
    test('an operator that has only a mirror or a layout verifies what was signed at its source', async () => {
      const names = [uniqueName(), uniqueName()] as const;
      const signer = new CosignSigner();
      await using source = await FaultRegistry.start(signal);
      await using between = await FaultRegistry.start(signal, { hasReferrers: false });
      await using mirror = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), names);
      const { world } = lab;
      const layout = `oci-layout://${join(world.directory, 'layout')}`;
      const places = [source.url('platform'), between.url('first'), layout, mirror.url('inside')] as const;
      const digests = new Map<string, string>();
      for (const name of names) {
        digests.set(name, await pushSigned(lab, places[0], name, signer));
        for (const [index, to] of places.slice(1).entries())
          await lab.succeed('module', 'mirror', `${places[index]}/${name}`, `${to}/${name}`, '--all');
      }
      for (const registry of [source, between]) await registry[Symbol.asyncDispose]();

      await world.converge();
      await world.create('configmaps', {
        metadata: { name: 'release-keys' },
        data: { 'cosign.pub': signer.publicKey },
      } as never);
      const keys = [{ configMapRef: { name: 'release-keys', key: 'cosign.pub' } }];
      for (const [index, url] of [layout, mirror.url('inside')].entries()) {
        const name = names[index] ?? '';
        await lab.create('ModuleSource', name, { url, interval: '10s', verify: { cosign: { keys } } });
        await lab.create('ModuleInstall', name, { source: name, version: { channel: 'bundle' } });
      }
      for (const name of names) {
        await lab.untilRuns(name, '1.0.0');
        await lab.patch('ModuleInstall', name, { version: { channel: 'old' } });
        await lab.untilRuns(name, '1.1.0');
        await lab.untilStatus('ModuleInstall', name, { installed: { digest: digests.get(name) } });
        await lab.patch('ModuleInstall', name, { version: { channel: 'unsigned' } });
        await lab.untilStatus('ModuleInstall', name, { pending: { version: '1.2.0', reason: 'Unverified' } });
      }
      expect(await runsIn(world)).not.toContain('1.2.0');
    });
  });
});
