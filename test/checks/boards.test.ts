import { join } from 'node:path';
import { expect, test } from 'vitest';
import { grafanaBoard } from '../../deploy/boards/grafana-board.ts';
import { MODULE_BOARD } from '../../deploy/boards/module-board.ts';
import { OPERATOR_BOARD } from '../../deploy/boards/operator-board.ts';
import { EVENT_LOOP_DELAY, METRICS } from '../../src/metrics/metric-table.ts';

const DASHBOARDS = join(import.meta.dirname, '../../deploy/addon-operator/files/dashboards');
const BOARDS = [
  { name: 'operator', board: OPERATOR_BOARD },
  { name: 'module', board: MODULE_BOARD },
];

// `vitest run test/checks/boards.test.ts -u` writes the files again.
test.each(BOARDS)('the file of the $name board is made from its source', async ({ name, board }) => {
  const text = `${JSON.stringify(grafanaBoard(board), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(DASHBOARDS, `${name}.json`));
});

test.each(BOARDS)('the $name board uses metrics that the operator exports', ({ board }) => {
  const known = new Set(
    [...Object.values(METRICS), EVENT_LOOP_DELAY].map(({ name }) => `addon_operator_${name}`),
  );
  const texts = board.rows.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)),
  );
  const used = [...texts, ...board.variables.map(({ metric }) => metric)]
    .flatMap((text) => text.match(/\baddon_operator_[a-z_]+/g) ?? [])
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});
