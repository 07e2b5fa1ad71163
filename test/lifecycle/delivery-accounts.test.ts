import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { CosignSigner } from '../support/cosign-signer.ts';
import { DeliveryWorld, runsIn } from '../support/delivery-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { ACCOUNTS, basicOf, dockerConfigFor } from '../support/oci/accounts.ts';
import { attachBundle } from '../support/oci/cosign-artifacts.ts';
import { DistributionRegistry } from '../support/oci/distribution-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { runInWorld } from '../support/world-command.ts';

const { signal } = new AbortController();
const WRONG = 'not-the-password';

describeRegistries('sources of one registry with an account each', () => {
  describeApiIndependent((backend) => {
    test('each uses its own account and keys only, and no report shows them', async () => {
      await using registry = await DistributionRegistry.start(signal, { auth: 'token' });
      const sources = (['alice', 'bob'] as const).map((account) => ({
        account,
        name: uniqueName(),
        signer: new CosignSigner(),
      }));
      const [alice, bob] = sources as [(typeof sources)[0], (typeof sources)[0]];
      await using lab = await DeliveryWorld.create(
        backend(),
        sources.map(({ name }) => name),
      );
      const { world } = lab;
      const url = registry.url('shared');
      await mkdir(join(world.directory, '.docker'));
      await writeFile(join(world.directory, '.docker/config.json'), dockerConfigFor(registry.host, 'alice'));
      const push = async (name: string, version: string, channel: string, signer: CosignSigner) => {
        const digest = await lab.push(url, name, version, { channel });
        await attachBundle(`${url}/${name}`, digest, signer.bundle(digest), 'alice');
      };
      for (const { name, signer } of sources) await push(name, '1.0.0', 'stable', signer);
      // Signed with a key, but with that of the other source.
      await push(bob.name, '1.1.0', 'next', alice.signer);
      const issued = registry.tokens?.issued ?? [];
      issued.splice(0);

      await world.converge();
      const create = async (name: string, account: string, dockerConfig: string, signer: CosignSigner) => {
        await world.create('secrets', {
          metadata: { name: account },
          type: 'kubernetes.io/dockerconfigjson',
          stringData: { '.dockerconfigjson': dockerConfig },
        } as never);
        await world.create('configmaps', {
          metadata: { name: `keys-${account}` },
          data: { 'cosign.pub': signer.publicKey },
        } as never);
        const keys = [{ configMapRef: { name: `keys-${account}`, key: 'cosign.pub' } }];
        await lab.create('ModuleSource', name, {
          url,
          interval: '10s',
          auth: { secretRef: { name: account } },
          verify: { cosign: { keys } },
        });
      };
      for (const { name, account, signer } of sources) {
        await create(name, account, dockerConfigFor(registry.host, account), signer);
        await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      }
      for (const { name } of sources) await lab.untilRuns(name, '1.0.0');
      await lab.patch('ModuleInstall', bob.name, { version: { channel: 'next' } });
      await lab.untilStatus('ModuleInstall', bob.name, {
        pending: { version: '1.1.0', reason: 'Unverified', message: expect.stringContaining('key') },
      });
      await lab.untilRuns(bob.name, '1.0.0');
      expect(await runsIn(world)).not.toContain('1.1.0');
      const uses = new Set(issued.map(({ account, scopes }) => `${account} ${scopes.join(' ')}`));
      const expected = sources.map(({ account, name }) => `${account} repository:shared/${name}:pull`);
      expect([...uses].toSorted()).toEqual(expected.toSorted());

      // An account that is refused is in more messages than one that is accepted.
      const auth = Buffer.from(`alice:${WRONG}`).toString('base64');
      const wrong = `${alice.name}-wrong`;
      const config = JSON.stringify({ auths: { [registry.host]: { auth } } });
      await create(wrong, 'wrong', config, alice.signer);
      await lab.patch('ModuleInstall', alice.name, { source: wrong });
      await lab.untilCondition('ModuleSource', wrong, 'Ready', 'False', 'SourceUnavailable');
      const doctor = await runInWorld(world, 'doctor', '--bundle', 'report.tar.gz');
      expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(wrong) });
      const bundle = gunzipSync(await readFile(join(world.directory, 'report.tar.gz'))).toString();
      expect(bundle).toContain(wrong);
      const { body } = await requestDebug(
        { socketPath: join(world.directory, 'debug.socket'), path: '/delivery.json' },
        systemClock,
      );
      const status = await runInWorld(world, 'status');
      const shown = [doctor.stdout, doctor.stderr, bundle, body, status.stdout, world.log.dump()].join('\n');
      const passwords = [ACCOUNTS.alice.password, ACCOUNTS.bob.password, WRONG];
      for (const secret of [...passwords, auth, basicOf('alice'), basicOf('bob'), 'eyJ'])
        expect(shown).not.toContain(secret);
    });
  });
});
