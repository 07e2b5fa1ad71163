import { expect, test } from 'vitest';
import { grafanaBoard } from '../../deploy/boards/grafana-board.ts';
import { MODULE_BOARD } from '../../deploy/boards/module-board.ts';
import { OPERATOR_BOARD } from '../../deploy/boards/operator-board.ts';
import { chartBoards } from '../support/prometheus/chart-alerts.ts';

const INGRESS = ['ui.enabled=true', 'ui.ingress.enabled=true', 'ui.ingress.host=tools.example.com'];
const PROXY = ['containers[0].name=proxy', 'containers[0].image=proxy'];
const RUNBOOKS = 'https://example.com/runbooks.md';

async function links(file: string, ...flags: readonly string[]): Promise<readonly (readonly string[])[]> {
  const board = (await chartBoards(...flags)).get(file);
  return board?.links?.map(({ type, title, url, tags }) => [type, title, url ?? tags.join(',')]) ?? [];
}

test('the chart has the boards with links to each other, and no link that leads nowhere', async () => {
  const boards = await chartBoards();
  expect(boards.get('operator.json')).toEqual(JSON.parse(JSON.stringify(grafanaBoard(OPERATOR_BOARD))));
  expect(boards.get('module.json')).toEqual(JSON.parse(JSON.stringify(grafanaBoard(MODULE_BOARD))));
  expect(await links('operator.json')).toEqual([['dashboards', 'Boards', 'addon-operator']]);
});

test('the boards link to the page of the operator and to the runbooks, when the chart has their addresses', async () => {
  const flags = [...INGRESS, ...PROXY, `metrics.alerts.runbookBase=${RUNBOOKS}`];
  const [boards, page, runbooks] = await links('operator.json', ...flags);
  expect(boards).toEqual(['dashboards', 'Boards', 'addon-operator']);
  expect(page).toEqual(['link', 'Page of the operator', 'http://tools.example.com/ui/']);
  expect(runbooks).toEqual(['link', 'Runbooks', RUNBOOKS]);
  const [, ofModule] = await links('module.json', ...flags, 'ui.ingress.tlsSecretName=tls');
  expect(ofModule).toEqual(['link', 'Page of the operator', 'https://tools.example.com/ui/modules/$module']);
});

test.each(['metrics.alerts.runbookBase=docs/runbooks.md', 'metrics.dashboards.grafanaUrl=grafana'])(
  'an address that is not absolute is refused: %s',
  async (flag) => {
    await expect(chartBoards(flag)).rejects.toThrow(/pattern/);
  },
);
