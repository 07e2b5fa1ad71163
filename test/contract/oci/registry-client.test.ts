import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { digestOf } from '@addon-operator/oci/digest';
import { openRepository } from '@addon-operator/oci/open-repository';
import type { WritableRepository } from '@addon-operator/oci/repository';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blobOf, contentOf, pushArtifact as push } from '../../support/oci/artifacts.ts';
import { crane, oras } from '../../support/oci/client-programs.ts';
import { DistributionRegistry } from '../../support/oci/distribution-registry.ts';
import { FaultRegistry } from '../../support/oci/fault-registry.ts';
import { describeRegistries } from '../../support/oci/oci-suite.ts';

const { signal } = new AbortController();
interface Place {
  readonly url: string;
  /** How crane and oras call the repository, with their flags. */
  readonly oras: readonly string[];
}

describeRegistries('the client of registries', () => {
  let directory: string;
  let faults: FaultRegistry;
  let distribution: DistributionRegistry;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'registry-client-'));
    faults = await FaultRegistry.start(signal);
    distribution = await DistributionRegistry.start(signal);
  });
  afterAll(async () => {
    await faults[Symbol.asyncDispose]();
    await distribution[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const places = {
    'the registry with a referrers API': (): Place => ({
      url: faults.url('team/web'),
      oras: [`${faults.host}/team/web`],
    }),
    'the reference registry': (): Place => ({
      url: distribution.url('team/web'),
      oras: [`${distribution.host}/team/web`],
    }),
    'a layout directory': (): Place => ({
      url: `oci-layout://${directory}/web`,
      oras: ['--oci-layout', `${directory}/web`],
    }),
  };

  for (const [name, place] of Object.entries(places)) {
    describe(`with ${name}`, () => {
      const open = (): WritableRepository => openRepository(place().url, { clock: systemClock });
      const layer = randomBytes(300_000);

      test('takes an artifact, and nothing of it a second time', async () => {
        const repository = open();
        const manifest = await push(repository, '1.0.0', layer);
        expect(await repository.pushBlob(blobOf(layer), signal)).toBe(false);
        expect(await repository.pushManifest(manifest, '1.0.0', signal)).toBe(false);
        expect(await repository.pushManifest(manifest, 'stable', signal)).toBe(true);
        expect([...(await repository.tags(signal))].toSorted()).toEqual(['1.0.0', 'stable']);
      });

      test('returns what was pushed, by tag and by digest', async () => {
        const repository = open();
        const { descriptor, bytes } = await push(repository, '1.0.0', layer);
        expect(await repository.resolve('1.0.0', signal)).toEqual(descriptor);
        expect(await repository.resolve(descriptor.digest, signal)).toEqual(descriptor);
        expect(await repository.resolve('2.0.0', signal)).toBeUndefined();
        expect(await repository.resolve(digestOf(Buffer.from('x')), signal)).toBeUndefined();
        expect(Buffer.from((await repository.manifest(descriptor.digest, signal)).bytes)).toEqual(bytes);
        expect(await contentOf(repository.blob(blobOf(layer), signal))).toEqual(layer);
      });

      test('lists referrers that this client and oras attached', async () => {
        const repository = open();
        const { descriptor } = await push(repository, '1.0.0', layer);
        const own = await push(repository, '', Buffer.from('signature'), descriptor);
        await writeFile(join(directory, 'note.txt'), 'a note\n');
        const [flags, target] = [place().oras.slice(0, -1), place().oras.at(-1)];
        const attach = [
          'attach',
          ...flags,
          '--artifact-type',
          'text/note',
          `${target}:1.0.0`,
          'note.txt:text/plain',
        ];
        await oras(attach, signal, { cwd: directory });
        const referrers = await repository.referrers(descriptor.digest, signal);
        expect(referrers).toHaveLength(2);
        expect(referrers.map(({ digest }) => digest)).toContain(own.descriptor.digest);
        // And oras finds both.
        const found = await oras(['discover', ...flags, '--format', 'json', `${target}:1.0.0`], signal);
        expect((JSON.parse(found) as { referrers: unknown[] }).referrers).toHaveLength(2);
        expect(await repository.referrers(own.descriptor.digest, signal)).toEqual([]);
      });

      test('is read by oras', async () => {
        const { descriptor } = await push(open(), '1.0.0', layer);
        const [flags, target] = [place().oras.slice(0, -1), place().oras.at(-1)];
        expect(await oras(['resolve', ...flags, `${target}:1.0.0`], signal)).toBe(descriptor.digest);
        const listed = await oras(['repo', 'tags', ...flags, `${target}`], signal);
        expect(listed.split('\n')).toContain('1.0.0');
      });
    });
  }

  test('crane reads what was pushed', async () => {
    const { descriptor } = await push(
      openRepository(faults.url('crane/web'), { clock: systemClock }),
      '1.0.0',
      randomBytes(10),
    );
    expect(await crane(['digest', `${faults.host}/crane/web:1.0.0`], signal)).toBe(descriptor.digest);
  });
});
