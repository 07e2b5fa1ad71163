import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Board } from '../../deploy/boards/board.ts';
import { MODULE_BOARD } from '../../deploy/boards/module-board.ts';
import { OPERATOR_BOARD } from '../../deploy/boards/operator-board.ts';
import { requestDebug } from '../../src/server/debug-client.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { filledIn } from '../support/prometheus/board-variables.ts';
import { chartAlerts, type RuleGroups } from '../support/prometheus/chart-alerts.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';
import { PrometheusServer } from '../support/prometheus/prometheus-server.ts';
import { leasePath, Replicas, untilLeading } from '../support/replicas.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const LABELS = { namespace: 'addons' };
const MAX_SERIES = 100;
const WAIT = { timeout: 60_000, interval: 100 };
/** Those whose reason is there at once; the others are about rates or need hours. */
const FOLLOWED = [
  'AddonOperatorAbsent',
  'AddonOperatorDriftUnhealed',
  'AddonOperatorModuleFails',
  'AddonOperatorModuleUnauthorized',
  'AddonOperatorNoLeader',
  'AddonOperatorPausedLong',
  'AddonOperatorQueueHeadStuck',
  'AddonOperatorTwoLeaders',
];
/** The hook of this module fails inside of module runs, and no module comes from a source. */
const EMPTY = ['Hook runs that fail', 'Versions that wait', 'Modules that wait', 'Age of sources'];
const programs = await prometheusForTests();

/** The same conditions, without the time for which they have to hold, and with two seconds for the head of a queue. */
function impatient({ groups }: RuleGroups): unknown {
  const rules = groups.map((group) => ({
    ...group,
    rules: group.rules.map(({ for: _duration, expr, ...rule }) => ({
      ...rule,
      expr: expr.replace('head_since_timestamp_seconds > 900', 'head_since_timestamp_seconds > 2'),
    })),
  }));
  return { groups: rules };
}

async function scraping(...targets: readonly string[]): Promise<PrometheusServer> {
  const rules = impatient(await chartAlerts());
  return await PrometheusServer.start({ file: programs?.prometheus ?? '', targets, labels: LABELS, rules });
}

async function untilFiring(server: PrometheusServer, alerts: readonly string[]): Promise<void> {
  const followed = async () => (await server.firing()).filter((name) => FOLLOWED.includes(name));
  await expect.poll(followed, WAIT).toEqual(alerts);
}

/** What `is_leader` is of each replica that is scraped. */
async function activeReplicas(server: PrometheusServer): Promise<readonly string[]> {
  const series = await server.query('addon_operator_is_leader');
  return series.map(({ value: [, active] }) => active).toSorted((a, b) => a.localeCompare(b));
}

/** Titles of the panels, and names of the marks, that show something. A query that fails, or has far too many series, is an error. */
async function shownPanels(server: PrometheusServer, { rows, marks }: Board): Promise<readonly string[]> {
  const shown: string[] = [];
  const parts = [
    ...rows.flatMap(({ panels }) => panels),
    ...marks.map((mark) => ({ title: mark.name, queries: [mark] })),
  ];
  for (const { title, queries } of parts)
    for (const { expr } of queries) {
      const series = await server.query(filledIn(expr));
      if (series.length > MAX_SERIES) throw new Error(`${title} has ${series.length} series`);
      if (series.length > 0) shown.push(title);
    }
  return shown;
}

describe.skipIf(programs === undefined)('a Prometheus that scrapes a daemon', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
  });

  test('alerts and boards follow a module that fails, is mended, a queue that is stuck, drift and a pause, until the daemon is gone', async () => {
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/module.yaml': 'drift: {mode: warn}\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', '[ -e "$WORLD/mended" ]'),
        '001-web/hooks/maps.sh': shHook('kubernetes: [{name: maps, kind: ConfigMap}]', ':'),
      },
      globalHooks: {
        'start.sh': shHook('beforeAll: 1', ':'),
        'side.sh': shHook(
          'kubernetes: [{name: start, kind: ConfigMap, queue: side, nameSelector: {matchNames: [start]}}]',
          '[ ! -e "$WORLD/held" ] || { echo no network >&2; exit 1; }',
        ),
      },
    });
    await world.start();
    await using server = await scraping(`127.0.0.1:${world.daemon.httpPort}`);
    await untilFiring(server, ['AddonOperatorModuleFails', 'AddonOperatorQueueHeadStuck']);
    const shown = new Set<string>();
    for (const board of [OPERATOR_BOARD, MODULE_BOARD])
      for (const title of await shownPanels(server, board)) shown.add(title);

    await world.write('modules', { '../mended': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    await untilFiring(server, []);
    await expect
      .poll(async () => await server.query('increase(addon_operator_convergence_total[1m]) >= 0'), {
        timeout: 60_000,
      })
      .not.toEqual([]);
    for (const board of [OPERATOR_BOARD, MODULE_BOARD])
      for (const title of await shownPanels(server, board)) shown.add(title);
    const titles = [OPERATOR_BOARD, MODULE_BOARD].flatMap(({ rows, marks }) => [
      ...rows.flatMap(({ panels }) => panels.map(({ title }) => title)),
      ...marks.map(({ name }) => name),
    ]);
    expect(titles.filter((title) => !shown.has(title) && !EMPTY.includes(title))).toEqual([]);

    await world.write('modules', { '../held': '' });
    await world.create('configmaps', { metadata: { name: 'start' } });
    await untilFiring(server, ['AddonOperatorQueueHeadStuck']);
    await rm(join(world.directory, 'held'));
    await world.passDelay('side');
    await untilFiring(server, []);

    const applied = await world.get('configmaps', 'web');
    await world.merge('configmaps', 'web', { data: { values: 'of another client' } });
    await untilFiring(server, ['AddonOperatorDriftUnhealed']);
    await world.merge('configmaps', 'web', { data: applied?.['data'] });
    await untilFiring(server, []);

    const socketPath = `${world.directory}/debug.socket`;
    await requestDebug({ socketPath, path: '/module/web/pause', form: { reason: 'test' } }, world.clock);
    await untilFiring(server, ['AddonOperatorPausedLong']);
    await world.stop();
    await untilFiring(server, ['AddonOperatorAbsent']);
  });

  test('alerts follow replicas whose leader is killed, a standby that takes over, and a second leader', async () => {
    await using world = await World.create(backend, {});
    const replicas = await Replicas.on(world);
    // No standby takes over in this test while the Lease of a killed leader is there.
    const flags = { 'lease-duration': '20m', 'lease-renew-deadline': '10m' };
    await using leader = await replicas.start(1, undefined, flags);
    await leader.untilConverged();
    await using standby = await replicas.start(2, undefined, flags);
    await standby.log.untilMessage('the lease has a holder');
    await using server = await scraping(...[1, 2, 3].map((number) => replicas.host(number)));
    await expect.poll(async () => await activeReplicas(server), WAIT).toEqual(['0', '1']);
    await untilFiring(server, []);

    await leader.kill();
    await untilFiring(server, ['AddonOperatorNoLeader']);
    await world.expect({
      method: 'PATCH',
      path: leasePath(world),
      body: { spec: { holderIdentity: '', leaseDurationSeconds: 1 } },
      contentType: 'application/merge-patch+json',
    });
    await untilLeading(standby);
    await untilFiring(server, []);
    expect(await activeReplicas(server)).toEqual(['1']);

    // A replica that looks for its Lease elsewhere.
    await using stranger = await replicas.start(3, undefined, { ...flags, namespace: 'default' });
    await untilLeading(stranger);
    await untilFiring(server, ['AddonOperatorTwoLeaders']);
    await stranger.kill();
    await untilFiring(server, []);
    await standby.kill();
    await untilFiring(server, ['AddonOperatorAbsent']);
  });
});
