import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { eventsOf, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import { openPage } from '../support/page-client.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const SHOWN = { ui: 'loopback', 'ui-port': '0' };

describeApiIndependent((backend) => {
  test('the page shows a module, runs it on request, and an Event names the requester', async () => {
    const name = uniqueName();
    const modules = {
      'values.yaml': `${name}Enabled: true\n`,
      ...under(`001-${name}`, {
        ...configMapChart(name, name),
        'hooks/say.sh': announcer(name, { afterHelm: 1 }),
      }),
    };
    const flags = { ...SHOWN, 'ui-actions': 'true' };
    await using made = await moduleWorld(backend(), { modules, flags }, [name]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    const page = await openPage(world);
    expect(await page.read('modules')).toMatchObject({ status: 200, body: { modules: [{ module: name }] } });
    expect((await page.read('modules', { headers: {} })).status).toBe(401);
    const body = JSON.stringify({ action: 'force-reconcile', reason: 'by hand' });
    expect(await page.read(`modules/${name}/actions`, { method: 'POST', body })).toEqual({
      status: 202,
      body: {
        operation: {
          module: name,
          target: `module ${name}`,
          action: 'force-reconcile',
          by: 'page',
          message: expect.stringContaining(`module ${name} is run`) as string,
        },
      },
    });
    await world.log.untilPrinted(`${name} afterHelm`, 2);
    const event = {
      type: 'Normal',
      reason: 'Requested',
      message: 'force-reconcile was requested with the page: by hand',
    };
    await vi.waitFor(
      async () => expect(await eventsOf(world, name)).toContainEqual(expect.objectContaining(event)),
      WAIT,
    );
  });

  test('the address is for our user alone, is another one after each start, and goes with the operator', async () => {
    await using world = await World.create(backend(), { flags: SHOWN });
    const file = join(world.directory, 'debug.socket.ui');
    await world.converge();
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const before = await openPage(world);
    const body = JSON.stringify({ action: 'abort' });
    expect((await before.read('modules/web/actions', { method: 'POST', body })).status).toBe(403);
    await world.stop();
    expect(existsSync(file)).toBe(false);
    await world.start();
    expect((await openPage(world)).token).not.toBe(before.token);
  });

  test('without --ui there is no page, and the command says so', async () => {
    await using world = await World.create(backend(), {});
    await world.converge();
    expect(existsSync(join(world.directory, 'debug.socket.ui'))).toBe(false);
    expect(await runInWorld(world, 'ui')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('the page is off: start the operator with --ui loopback') as string,
    });
  });

  test('a port that is in use is named, and nothing is left behind', async () => {
    await using world = await World.create(backend(), { flags: SHOWN });
    await world.start();
    const port = new URL((await openPage(world)).address).port;
    await using other = await World.create(backend(), { flags: { ...SHOWN, 'ui-port': port } });
    await expect(other.start()).rejects.toMatchObject({
      code: 'HTTP_LISTEN',
      message: expect.stringContaining(
        `Cannot serve the page on 127.0.0.1:${port} (--ui, --ui-port)`,
      ) as string,
    });
    expect(existsSync(join(other.directory, 'debug.socket.ui'))).toBe(false);
  });
});
