import { execa } from 'execa';
import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { Backend, World } from '../support/world.ts';
import { exampleDirectory, exampleWorld, SOON } from './example-world.ts';

/** The server of the example on a port of its own. */
async function startInbox() {
  const [port = 0] = await freePorts(1);
  const server = execa(process.execPath, [exampleDirectory('deploy-notifier', 'server/inbox.mjs')], {
    env: { PORT: String(port) },
    reject: false,
  });
  const url = `http://127.0.0.1:${port}/`;
  const read = async (): Promise<string> => (await fetch(url)).text();
  await expect.poll(() => read().catch(() => 'not yet'), SOON).toBe('');
  return {
    url,
    read,
    async [Symbol.asyncDispose]() {
      server.kill();
      await server;
    },
  };
}

async function hookMetrics(world: World): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
}

export function deployNotifierTests(backend: () => Backend): void {
  test('deploy-notifier: the server gets to know of deploys and removals', async () => {
    await using inbox = await startInbox();
    await using world = await exampleWorld(backend(), 'deploy-notifier', {
      hookEnv: { NOTIFY_URL: inbox.url },
      config: {},
    });
    await world.converge();
    await world.putConfig({ shop: 'color: red\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await hookMetrics(world)).toContain('deployed_revision{hook="notify.ts",module="shop"} 2');
    await world.putConfig({ shopEnabled: 'false' });
    await expect
      .poll(inbox.read, SOON)
      .toBe(
        'shop 1.0.0: revision 1 is deployed\nshop 1.0.0: revision 2 is deployed\nshop: revision 2 is removed\n',
      );
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await hookMetrics(world)).not.toContain('module="shop"');
  });

  test(
    'deploy-notifier: without the server the module is deployed all the same',
    apiIndependent,
    async () => {
      const [port = 0] = await freePorts(1);
      await using world = await exampleWorld(backend(), 'deploy-notifier', {
        hookEnv: { NOTIFY_URL: `http://127.0.0.1:${port}/` },
      });
      await world.converge();
      await world.log.untilMessage('Deploy hook failed, the deploy continues');
      expect(await world.get('configmaps', 'shop')).toMatchObject({ data: { color: 'blue' } });
    },
  );
}
