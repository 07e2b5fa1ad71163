import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { dump } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Board } from '../../deploy/boards/board.ts';
import { MODULE_BOARD } from '../../deploy/boards/module-board.ts';
import { OPERATOR_BOARD } from '../../deploy/boards/operator-board.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { filledIn } from '../support/prometheus/board-variables.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

/** About names of the original operator, and of prom-client. */
const COMPLAINTS = [
  'addon_operator_binding_count non-histogram and non-summary metrics should not have "_count" suffix',
  'addon_operator_convergence_seconds counter metrics should have "_total" suffix',
  'addon_operator_live_ticks counter metrics should have "_total" suffix',
  'nodejs_active_handles_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_requests_total non-counter metrics should not have "_total" suffix',
  'nodejs_active_resources_total non-counter metrics should not have "_total" suffix',
];
const programs = await prometheusForTests();

/** Every query of a board: of its panels and of its marks. */
function queriesOf({ marks, rows }: Board): readonly string[] {
  const ofPanels = rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries));
  return [...ofPanels, ...marks].map(({ expr }) => expr);
}

describe.skipIf(programs === undefined)('promtool', () => {
  const promtool = programs?.promtool ?? '';
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
  });

  /** What it says about recording rules with these expressions. */
  async function check(exprs: readonly string[]) {
    const rules = exprs.map((expr, index) => ({ record: `query:number${index}`, expr }));
    const file = join(await mkdtemp(join(tmpdir(), 'queries-')), 'rules.yaml');
    await writeFile(file, dump({ groups: [{ name: 'queries', rules }] }));
    return await execa(promtool, ['check', 'rules', file], { all: true, reject: false });
  }

  test.each([
    ['operator', OPERATOR_BOARD],
    ['module', MODULE_BOARD],
  ])('can read every query of the %s board', async (_name, board) => {
    const queries = queriesOf(board).map(filledIn);
    const { exitCode, all } = await check(queries);
    expect({ exitCode, all }).toEqual({
      exitCode: 0,
      all: expect.stringContaining(`${queries.length} rules found`),
    });
  });

  test('reports a query that it cannot read', async () => {
    const { exitCode, all } = await check(['sum by (module (up)']);
    expect({ exitCode, all }).toEqual({ exitCode: 1, all: expect.stringContaining('could not parse') });
  });

  test('complains about no metric of a daemon but for names that are given', async () => {
    const map = 'kubernetes: [{name: maps, kind: ConfigMap, jqFilter: .data}]';
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/hooks/hook.sh': shHook(map, ':'),
      },
      globalHooks: { 'start.sh': shHook('onStartup: 1', ':') },
    });
    await world.converge();
    const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
    const page = await response.text();
    expect(page).toContain('addon_operator_helm_operation_seconds_count{');
    const { all } = await execa(promtool, ['check', 'metrics'], { input: page, all: true, reject: false });
    expect(all.split('\n')).toEqual(COMPLAINTS);
  });
});
