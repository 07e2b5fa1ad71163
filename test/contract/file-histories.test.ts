import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, asyncProperty } from 'fast-check';
import { test } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { FileHistory } from '../support/file-histories.ts';
import { anyHistory } from '../support/file-steps.ts';
import { type Backend, World } from '../support/world.ts';

/** The sandbox alone: what files say is read without the API server, which only keeps releases and what is remembered. */
const LAST_RECORDS = 30;
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 6);

test('no release is removed without a decision, in any history of damaged and repaired files', async () => {
  await using sandbox = await sandboxBackend();
  await using proxied = await proxiedBackend(sandbox);
  await assert(
    asyncProperty(anyHistory, async ({ shape, steps }) => {
      let directories = (): string => '';
      await using world = await World.create(proxied.backend, {
        flags: { 'watch-files': String(shape.watchesFiles) },
        env: () => ({ MODULES_DIR: directories() }),
      });
      const history = new FileHistory(shape, world, proxied.proxy);
      directories = () => history.directories;
      try {
        await history.begin();
        for (const step of steps) await history.take(step);
        await history.end();
      } catch (cause) {
        throw new Error(`${history.told.join('\n')}\n${world.log.dump(LAST_RECORDS)}`, { cause });
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

/** Requests of daemons and of helm go through a proxy, which cuts them off. */
async function proxiedBackend(
  of: SandboxBackend,
): Promise<AsyncDisposable & { readonly backend: Backend; readonly proxy: FaultProxy }> {
  const directory = await mkdtemp(join(tmpdir(), 'proxied-'));
  const proxy = await FaultProxy.start({ serverUrl: of.sandbox.url });
  const kubeconfigPath = join(directory, 'kubeconfig');
  await writeFile(kubeconfigPath, proxy.kubeconfig);
  return {
    backend: { ...of, kubeconfigPath },
    proxy,
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      await rm(directory, { recursive: true });
    },
  };
}
