import { expect, test } from 'vitest';
import type { Board, Panel } from '../../../deploy/boards/board.ts';
import { boardDigest, drawBoard } from './draw-board.ts';
import { type Line, valueText } from './draw-panel.ts';

const AXIS = { start: 0, end: 100, step: 10, marks: [{ seconds: 50, color: 'purple' }] };

function panel(kind: Panel['kind'], more: Partial<Panel> = {}): Panel {
  return { kind, title: `a ${kind}`, description: '', unit: 'short', span: 12, queries: [], ...more };
}

function board(...panels: readonly Panel[]): Board {
  return {
    uid: 'b',
    title: 'B',
    description: '',
    variables: [],
    marks: [],
    rows: [{ title: 'Row', panels }],
  };
}

const line = (name: string, ...values: readonly number[]): Line => ({
  name,
  labels: { queue: name },
  points: values.map((value, index) => [index * 10, value]),
});

test.each([
  ['stat', 'fill="#e02f44" text-anchor="middle">5</text>'],
  ['timeseries', '>main &amp; &lt;side</text>'],
  ['state-timeline', 'stroke-dasharray="3 3"'],
  ['table', 'font-weight="bold">queue</text>'],
] as const)('a %s is drawn with its title and its values', (kind, drawn) => {
  const picture = drawBoard(board(panel(kind, { redFrom: 5 })), () => [line('main & <side', 1, 5)], AXIS);
  expect(picture).toContain(`>a ${kind}</text>`);
  expect(picture).toContain(drawn);
});

test('a panel without series says so', () => {
  expect(drawBoard(board(panel('timeseries')), () => [], AXIS)).toContain('>No data</text>');
});

test('a curve is interrupted where values are missing', () => {
  const gap: Line = {
    ...line('main', 1, 1),
    points: [
      [0, 1],
      [10, 1],
      [40, 1],
      [50, 1],
    ],
  };
  const picture = drawBoard(board(panel('timeseries')), () => [gap], AXIS);
  const [, path = ''] = /<path d="([^"]+)" fill="none"/.exec(picture) ?? [];
  expect(path.match(/M/g)).toHaveLength(2);
});

test('panels that do not fit into 24 columns begin a new line', () => {
  const picture = drawBoard(board(panel('stat'), panel('stat'), panel('stat')), () => [], AXIS);
  const places = [...picture.matchAll(/translate\((\d+) (\d+)\)/g)].map(([, x, y]) => [x, y]);
  expect(places).toEqual([
    ['8', '38'],
    ['608', '38'],
    ['8', '176'],
  ]);
});

test('a picture names its board, and another board has another name', () => {
  const [one, other] = [board(panel('stat')), board(panel('table'))];
  expect(drawBoard(one, () => [], AXIS)).toContain(`data-board="${boardDigest(one)}"`);
  expect(boardDigest(one)).not.toBe(boardDigest(other));
});

test.each([
  [0.0123, 's', '12.3 ms'],
  [90, 's', '90 s'],
  [104_857_600, 'bytes', '100 MiB'],
  [0.5, 'percentunit', '50 %'],
  [1.23456, 'short', '1.23'],
  [Number.NaN, 'short', '–'],
])('the value %d in %s is shown as %s', (value, unit, text) => {
  expect(valueText(value, unit)).toBe(text);
});
