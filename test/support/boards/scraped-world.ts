import { vi } from 'vitest';
import type { Board, Panel, Query } from '../../../deploy/boards/board.ts';
import { filledIn } from '../prometheus/board-variables.ts';
import { PrometheusServer, type QueryRange } from '../prometheus/prometheus-server.ts';
import { type Backend, World } from '../world.ts';
import { configMapChart, type FileTree, shHook, under } from '../world-files.ts';
import { drawBoard } from './draw-board.ts';
import { type Line, type MarkedMoment, periods } from './draw-panel.ts';

const STEP = 1;
const RANGE_SECONDS = 180;
const WAIT = { timeout: 240_000, interval: 500 };

/** Three modules that have something to do every few seconds, one of which fails at first. */
function modules(): FileTree {
  const watched = 'kubernetes: [{name: maps, kind: ConfigMap, jqFilter: .data}]';
  const ticks = 'schedule: [{name: ticks, crontab: "*/4 * * * * *", queue: ticks}]';
  return {
    'values.yaml': 'webEnabled: true\ndatabaseEnabled: true\ncacheEnabled: true\n',
    ...under('010-cache', configMapChart('cache', 'cache')),
    '010-cache/hooks/sweep.sh': shHook(ticks, 'head -c 3000000 /dev/urandom | cksum'),
    ...under('020-web', configMapChart('web', 'web')),
    '020-web/module.yaml': 'drift: {mode: warn}\n',
    '020-web/hooks/routes.sh': shHook(`${watched}\n${ticks}`, 'head -c 1000000 /dev/urandom | cksum'),
    '020-web/hooks/certificate.sh': shHook('beforeHelm: 1', ':'),
    ...under('030-database', configMapChart('database', 'database')),
    '030-database/hooks/backup.sh': shHook('beforeHelm: 1', '[ -e "$WORLD/mended" ]'),
  };
}

/** Pictures of boards from three minutes in the life of a daemon, by a real Prometheus. */
export async function boardPictures(
  boards: readonly Board[],
  backend: Backend,
  prometheus: string,
): Promise<readonly string[]> {
  const discover = shHook('beforeAll: 1', ':');
  await using world = await World.create(backend, {
    modules: modules(),
    globalHooks: { 'discover.sh': discover },
  });
  await world.start();
  const targets = [`127.0.0.1:${world.daemon.httpPort}`];
  const labels = { namespace: 'addons' };
  await using server = await PrometheusServer.start({
    file: prometheus,
    targets,
    labels,
    rules: { groups: [] },
  });
  const untilScraped = async (times: number): Promise<void> => {
    await vi.waitFor(async () => {
      const [sample] = await server.query('count_over_time(addon_operator_is_leader[10m])');
      const scrapes = Number(sample?.value[1] ?? 0);
      if (scrapes < times) throw new Error(`scraped ${scrapes} times, not ${times}`);
    }, WAIT);
  };
  await untilScraped(RANGE_SECONDS * 0.15);
  await world.write('modules', { '../mended': '' });
  // Means need a counter that grows: the first deployment of a kind only begins it.
  for (const [release, part] of [0.4, 0.6, 0.8].entries()) {
    await untilScraped(RANGE_SECONDS * part);
    await world.putConfig({ global: `release: ${release}` });
  }
  await untilScraped(RANGE_SECONDS * 0.9);
  await world.merge('configmaps', 'web', { data: { values: 'of another client' } });
  await untilScraped(RANGE_SECONDS);
  const [newest] = await server.query('timestamp(addon_operator_is_leader)');
  const end = Math.floor(Number(newest?.value[1]));
  const range = { start: end - RANGE_SECONDS, end, step: STEP };
  return await Promise.all(boards.map(async (board) => await picture(server, board, range)));
}

async function picture(server: PrometheusServer, board: Board, range: QueryRange): Promise<string> {
  const lines = new Map<Panel, readonly Line[]>();
  for (const panel of board.rows.flatMap(({ panels }) => panels)) {
    const found = await Promise.all(panel.queries.map(async (query) => await linesOf(server, query, range)));
    lines.set(
      panel,
      found.flat().filter((line) => isNow(panel, line, range)),
    );
  }
  const marks: MarkedMoment[] = [];
  for (const { expr, color } of board.marks)
    for (const { values } of await server.queryRange(filledIn(expr), range)) {
      const points = values.map(([seconds, value]) => [seconds, Number(value)] as const);
      for (const [seconds] of periods(points, range.step)) marks.push({ seconds, color });
    }
  return drawBoard(board, (panel) => lines.get(panel) ?? [], { ...range, marks });
}

/** A table shows what is there at the end. */
function isNow({ kind }: Panel, { points }: Line, { end, step }: QueryRange): boolean {
  return kind !== 'table' || (points.at(-1)?.[0] ?? 0) > end - 2 * step;
}

async function linesOf(
  server: PrometheusServer,
  { expr, legend }: Query,
  range: QueryRange,
): Promise<readonly Line[]> {
  const series = await server.queryRange(filledIn(expr), range);
  return series.map(({ metric, values }) => ({
    name: legend.replaceAll(/\{\{(?<label>\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim(),
    labels: metric,
    points: values.map(([seconds, value]) => [seconds, Number(value)] as const),
  }));
}
