import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld, read, remove, SOON } from './example-world.ts';

const MODULE = '/apis/addon-operator.io/v1alpha1/modules/shop';

/** The server of the example on a port of its own, and the modules with that port in the address. */
async function startServer() {
  const [port = 0] = await freePorts(1);
  const directory = await mkdtemp(join(tmpdir(), 'reconcile-webhook-'));
  await cp(exampleDirectory('reconcile-webhook', 'modules'), directory, { recursive: true });
  const file = join(directory, '010-shop/module.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('127.0.0.1:8789', `127.0.0.1:${port}`));
  const server = execa(process.execPath, [exampleDirectory('reconcile-webhook', 'server/names.mjs')], {
    env: { PORT: String(port) },
    reject: false,
  });
  const said: string[] = [];
  server.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await expect.poll(() => said.join(''), SOON).toContain(`listening on http://127.0.0.1:${port}/v1`);
  return {
    modules: directory,
    names: async () => (await fetch(`http://127.0.0.1:${port}/`)).json(),
    said: () => said.join(''),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server;
      await rm(directory, { recursive: true });
    },
  };
}

export function reconcileWebhookTests(backend: () => Backend): void {
  test('reconcile-webhook: the server assigns a name to the objects and the module, and releases it', async () => {
    await using server = await startServer();
    await using world = await exampleWorld(backend(), 'reconcile-webhook', {
      directories: { modules: server.modules },
      flags: { 'module-objects': 'true' },
    });
    await world.converge();
    expect(await server.names()).toEqual({ names: ['shop.example.com'] });
    expect(await world.get('configmaps', 'shop')).toMatchObject({
      metadata: { annotations: { 'example.com/host': 'shop.example.com' } },
      data: { greeting: 'Welcome' },
    });
    expect(await world.get('configmaps', 'shop-address')).toMatchObject({
      data: { host: 'shop.example.com' },
    });
    expect(await read(world, MODULE)).toMatchObject({
      metadata: { finalizers: ['addon-operator.io/finalize-hook'] },
      status: { host: 'shop.example.com' },
    });
    await world.putConfig({ shopEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(server.said()).toContain('shop.example.com is free again');
    expect(await world.get('configmaps', 'shop-address')).toBeUndefined();
    await world.stop();
    await remove(world, MODULE);
  });
}
