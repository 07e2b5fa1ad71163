import { expect, test } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const MODULES = Array.from({ length: 35 }, (_, index) => `app${index}`);
const WATCHED_EACH = 5;
const TICKING_EACH = 7;
const LIMIT = 60;

/** Modules with charts, as a platform has them: each fifth reacts to an object before helm, each seventh has a schedule. */
function app(name: string, index: number): FileTree {
  const watched = `{name: maps, kind: ConfigMap, nameSelector: {matchNames: [watched]}, jqFilter: .data}`;
  return under(`001-${name}`, {
    ...configMapChart(name, name),
    ...(index % WATCHED_EACH === 0 && {
      'hooks/watch.sh': shHook(`beforeHelm: 1\nkubernetes: [${watched}]`, ':'),
    }),
    ...(index % TICKING_EACH === 0 && {
      'hooks/tick.sh': shHook('schedule: [{name: tick, crontab: "* * * * * *"}]', ':'),
    }),
  });
}

async function scrape(world: World): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

describeApiIndependent((backend) => {
  test('a module has at most 60 series on average, after the start, a reload and an event', async () => {
    const modules = Object.assign({}, ...MODULES.map(app)) as FileTree;
    await using world = await World.create(backend(), { modules });
    await world.converge();
    const empty = await scrape(world);
    await world.stop();

    const enabled = Object.fromEntries(MODULES.map((name) => [`${name}Enabled`, 'true']));
    await world.putConfig(enabled);
    await world.converge();
    await world.putConfig({ ...enabled, global: 'a: 1' });
    await expect
      .poll(async () => (await scrape(world)).join('\n'), { timeout: 60_000 })
      .toContain('convergence_total{activation="ReloadAllModules"} 1');
    await world.create('configmaps', { metadata: { name: 'watched' } });
    const events = /module_hook_success_total\{[^}]*binding="kubernetes",queue="main",activation=""\} [1-9]/;
    await expect
      .poll(async () => (await scrape(world)).filter((line) => events.test(line)), { timeout: 60_000 })
      .toHaveLength(MODULES.length / WATCHED_EACH);
    const full = await scrape(world);
    const added = (full.length - empty.length) / MODULES.length;
    expect(added).toBeLessThanOrEqual(LIMIT);
    // Fewer would mean that something was not measured.
    expect(added).toBeGreaterThan(LIMIT / 2);
  });
});
