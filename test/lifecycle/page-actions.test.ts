import { Ajv } from 'ajv';
import { expect, test, vi } from 'vitest';
import type { AuditEntry } from '../../src/server/api/audit-list.ts';
import { API_SCHEMAS } from '../../src/server/api/schemas.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { eventsOf, moduleWorld, uniqueName } from '../support/module-world.ts';
import { openPage, type PageClient } from '../support/page-client.ts';
import type { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const FLAGS = { ui: 'loopback', 'ui-port': '0', 'ui-actions': 'true' };
const accepted = { status: 202, body: expect.anything() as unknown };

describeApiIndependent((backend) => {
  test('a queue that fails is retried, and runs of hooks are aborted, dropped and triggered from the page', async () => {
    const name = uniqueName();
    const modules = {
      'values.yaml': `${name}Enabled: true\n`,
      ...under(`001-${name}`, {
        'hooks/disk.sh': shHook('beforeHelm: 1', '[ -e "$WORLD/disk" ] || { echo no disk >&2; exit 1; }'),
        'hooks/hang.sh': shHook(
          'kubernetes: [{name: maps, kind: ConfigMap, queue: hang, nameSelector: {matchNames: [start]}}]',
          'grep -q Synchronization "$BINDING_CONTEXT_PATH" || exec sleep 600',
        ),
        'hooks/tick.sh': shHook('schedule: [{name: yearly, crontab: "0 0 1 1 *"}]', 'echo ticked'),
      }),
    };
    await using made = await moduleWorld(backend(), { modules, flags: FLAGS }, [name]);
    const { world } = made;
    await world.start();
    await world.untilDelayed();
    const page = await openPage(world);
    const hook = `${name}/hooks/hang.sh`;
    expect(await problemOf(page)).toMatchObject({
      module: name,
      queue: 'main',
      hook: `${name}/hooks/disk.sh`,
      actions: ['retry', 'pause'],
    });
    expect(await page.act('actions', { action: 'retry', queue: 'nope' })).toMatchObject({ status: 404 });
    await world.write('modules', { '../disk': '' });
    expect(await page.act('actions', { action: 'retry', queue: 'main' })).toEqual(accepted);
    await world.daemon.firstConverge;
    expect(await page.act('actions', { action: 'retry', queue: 'main' })).toMatchObject({ status: 409 });

    await world.create('configmaps', { metadata: { name: 'start' } });
    await untilHangs(world, true);
    expect(await page.act('actions', { action: 'abort-hook', hook, reason: 'it hangs' })).toEqual(accepted);
    await world.untilDelayed('hang');
    expect(await page.act('actions', { action: 'retry', queue: 'hang' })).toEqual(accepted);
    await untilHangs(world, true);
    expect(await page.act('actions', { action: 'drop-hook', hook, reason: 'it hangs' })).toEqual(accepted);
    await untilHangs(world, false);
    await vi.waitFor(() => expect(world.daemon.operator.queues.get('hang').entries).toEqual([]), WAIT);
    expect(await page.act('actions', { action: 'drop-hook', hook })).toMatchObject({ status: 404 });

    const tick = { action: 'trigger-hook', hook: `${name}/hooks/tick.sh`, binding: 'yearly' };
    expect(await page.act('actions', tick)).toEqual(accepted);
    await world.log.untilPrinted('ticked');
    await untilEvent(world, name, `drop-hook of hook ${hook} was requested with the page: it hangs`);
    await untilEvent(world, name, 'retry of queue main was requested with the page');
    expect((await audit(page)).map(({ action, target, result }) => `${action} ${target} ${result}`)).toEqual([
      `trigger-hook hook ${name}/hooks/tick.sh accepted`,
      `drop-hook hook ${hook} refused`,
      `drop-hook hook ${hook} accepted`,
      'retry queue hang accepted',
      `abort-hook hook ${hook} accepted`,
      'retry queue main refused',
      'retry queue main accepted',
      'retry queue nope refused',
    ]);
  });

  test('modules are paused, disabled by their flag, enabled again and restored from the page', async () => {
    const name = uniqueName();
    const modules = {
      'values.yaml': `${name}Enabled: true\n`,
      ...under(`001-${name}`, configMapChart(name, name)),
    };
    const section = '# how many\nreplicas: 3\n';
    const options = { modules, flags: FLAGS, config: { [name]: section } };
    await using made = await moduleWorld(backend(), options, [name]);
    const { world } = made;
    await world.converge();
    const page = await openPage(world);
    const actOn = (body: object) => page.act(`modules/${name}/actions`, body);
    const deployed = async () => (await world.get('configmaps', name))?.['data'];
    const original = await deployed();

    await world.merge('configmaps', name, { data: { values: 'edited' } });
    expect(await actOn({ action: 'heal-drift', reason: 'edited by hand' })).toEqual(accepted);
    await vi.waitFor(async () => expect(await deployed()).toEqual(original), WAIT);

    expect(await page.act('actions', { action: 'pause-all', reason: 'night' })).toEqual(accepted);
    expect(await problemOf(page)).toMatchObject({ actions: ['resume-all'] });
    expect(await page.act('actions', { action: 'resume-all' })).toEqual(accepted);
    expect(await actOn({ action: 'pause', reason: 'disks' })).toEqual(accepted);
    expect(await problemOf(page)).toMatchObject({ module: name, actions: ['resume'] });
    expect(await actOn({ action: 'resume' })).toEqual(accepted);

    expect(await actOn({ action: 'disable', reason: 'not needed' })).toEqual(accepted);
    await vi.waitFor(async () => expect(await deployed()).toBeUndefined(), WAIT);
    const read = async () => (await world.get('configmaps', 'addon-operator'))?.['data'];
    expect(await read()).toEqual({ [name]: section, [`${name}Enabled`]: 'false' });
    expect(await actOn({ action: 'disable' })).toMatchObject({ status: 409 });
    expect(await actOn({ action: 'enable' })).toEqual(accepted);
    await vi.waitFor(async () => expect(await deployed()).toEqual(original), WAIT);
    expect(await read()).toEqual({ [name]: section, [`${name}Enabled`]: 'true' });

    await untilEvent(world, name, 'disable was requested with the page: not needed');
    await untilEvent(world, name, 'heal-drift was requested with the page: edited by hand');
    expect(await audit(page)).toContainEqual(
      expect.objectContaining({ action: 'pause-all', target: 'all modules', by: 'page', reason: 'night' }),
    );
  });
});

/** Waits until the hook that sleeps runs, or runs no more. */
async function untilHangs(world: World, isRunning: boolean): Promise<void> {
  const { running } = world.daemon.operator.execution;
  await vi.waitFor(() => expect(running.all.length > 0).toBe(isRunning), WAIT);
}

/** The most important problem. */
async function problemOf(page: PageClient): Promise<unknown> {
  const { body } = await page.read('now');
  // What waits behind the first problem is another one.
  return (body as { readonly headline: { readonly details: readonly unknown[] } }).headline.details[0];
}

async function audit(page: PageClient): Promise<readonly AuditEntry[]> {
  const { body } = await page.read('audit');
  const validate = new Ajv({ formats: { 'date-time': true } }).compile(API_SCHEMAS['audit'] ?? false);
  expect([validate(body), validate.errors]).toEqual([true, null]);
  return (body as { readonly entries: readonly AuditEntry[] }).entries;
}

async function untilEvent(world: World, name: string, message: string): Promise<void> {
  const event = expect.objectContaining({ type: 'Normal', reason: 'Requested', message });
  await vi.waitFor(async () => expect(await eventsOf(world, name)).toContainEqual(event), WAIT);
}
