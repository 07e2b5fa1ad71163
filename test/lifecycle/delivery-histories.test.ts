import { assert, asyncProperty, shuffledSubarray } from 'fast-check';
import { expect, test } from 'vitest';
import { CosignSigner } from '../support/cosign-signer.ts';
import { DELIVERY_STEPS, DeliveryHistory } from '../support/delivery-history.ts';
import { DeliveryWorld } from '../support/delivery-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { runInWorld } from '../support/world-command.ts';

const { signal } = new AbortController();

describeRegistries('histories of a channel', () => {
  describeApiIndependent((backend) => {
    test('what runs is of one version, was wanted, verified and good, and stays, whatever happens', async () => {
      await assert(
        asyncProperty(
          shuffledSubarray([...DELIVERY_STEPS], { minLength: DELIVERY_STEPS.length }),
          async (steps) => {
            const name = uniqueName();
            await using registry = await FaultRegistry.start(signal);
            await using lab = await DeliveryWorld.create(backend(), [name]);
            const { world } = lab;
            const signer = new CosignSigner();
            const history = new DeliveryHistory(lab, registry, name, signer);
            await world.converge();
            const url = registry.url('platform');
            await world.create('configmaps', {
              metadata: { name: 'release-keys' },
              data: { 'cosign.pub': signer.publicKey },
            } as never);
            const keys = [{ configMapRef: { name: 'release-keys', key: 'cosign.pub' } }];
            await lab.create('ModuleSource', name, { url, interval: '10s', verify: { cosign: { keys } } });
            await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
            for (const step of ['good', 'good', ...steps] as const) await history.step(step);
            // A good version ends every trouble.
            await history.mend();
            await history.step('good');
            await expect
              .poll(async () => (await runInWorld(world, 'status')).exitCode, {
                timeout: 60_000,
                interval: 100,
              })
              .toBe(0);
          },
        ),
        {
          seed: Number(process.env['PROPERTY_SEED'] ?? 35),
          numRuns: Number(process.env['PROPERTY_RUNS'] ?? 2),
          endOnFailure: true,
        },
      );
    });
  });
});
