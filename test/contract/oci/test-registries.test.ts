import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dockerConfigFor } from '../../support/oci/accounts.ts';
import { crane, oras } from '../../support/oci/client-programs.ts';
import { DistributionRegistry } from '../../support/oci/distribution-registry.ts';
import { FaultRegistry } from '../../support/oci/fault-registry.ts';
import { describeRegistries } from '../../support/oci/oci-suite.ts';

const { signal } = new AbortController();

describeRegistries('registries for tests', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'test-registries-'));
    await writeFile(join(directory, 'file.txt'), 'content\n');
  });
  afterAll(async () => await rm(directory, { recursive: true, force: true }));

  const push = async (target: string, dockerConfig?: string): Promise<string> =>
    await oras(['push', target, 'file.txt:text/plain'], signal, {
      cwd: directory,
      ...(dockerConfig !== undefined && { dockerConfig }),
    });

  test('the registry with faults serves crane and oras, and logs what they request', async () => {
    await using registry = await FaultRegistry.start(signal);
    await push(`${registry.host}/shared/one:1.0.0`);
    expect(await crane(['ls', `${registry.host}/shared/one`], signal)).toBe('1.0.0');
    const requests = await registry.accessLog();
    expect(requests).toContainEqual({
      method: 'GET',
      path: expect.stringContaining('/v2/shared/one/tags/list'),
      status: 200,
      bytes: 0,
    });
    await registry.setFaults({ path: '/tags/list', times: 1, status: 503, body: '{}' });
    await expect(fetch(`http://${registry.host}/v2/shared/one/tags/list`)).resolves.toHaveProperty(
      'status',
      503,
    );
    await expect(fetch(`http://${registry.host}/v2/shared/one/tags/list`)).resolves.toHaveProperty(
      'status',
      200,
    );
  });

  for (const auth of ['basic', 'token'] as const) {
    test(`the registry with ${auth} authentication serves an account, and no other client`, async () => {
      await using registry = await DistributionRegistry.start(signal, { auth });
      const target = `${registry.host}/alice/one:1.0.0`;
      await writeFile(join(directory, 'config.json'), dockerConfigFor(registry.host, 'alice'));
      await push(target, directory);
      await expect(crane(['ls', `${registry.host}/alice/one`], signal)).rejects.toThrow(/UNAUTHORIZED|401/);
      expect(await crane(['ls', `${registry.host}/alice/one`], signal, { dockerConfig: directory })).toBe(
        '1.0.0',
      );
      expect(registry.tokens?.issued.some(({ account }) => account === 'alice')).toBe(
        auth === 'token' ? true : undefined,
      );
    });
  }
});
