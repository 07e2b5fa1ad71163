import { costsOfOne, type DimensionResult, type Figure } from './figure.ts';

const [WIDTH, HEIGHT] = [640, 300];
const MARGIN = { left: 48, right: 250, top: 28, bottom: 40 };
const LIMIT = 1.2;
const HEADROOM = 1.15;
/** Distinct also for people who see few colours, on light and dark pages. */
const COLOURS = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377'];
const GREY = '#888888';

/**
 * An SVG that shows what one costs at each size, as a multiple of what it costs at the smallest: a level line is linear
 * work. The dashed line is the goal.
 */
export function scaleChart({ name, figures, measurements }: DimensionResult): string {
  const drawn = figures.filter(({ isTotal }) => isTotal === true);
  const lines = drawn.map((figure) => ({ figure, values: costsOfOne(figure, measurements) }));
  const most = Math.max(LIMIT, ...lines.flatMap(({ values }) => values.filter(Number.isFinite))) * HEADROOM;
  const x = (index: number): number =>
    MARGIN.left + (index * (WIDTH - MARGIN.left - MARGIN.right)) / Math.max(1, measurements.length - 1);
  const y = (value: number): number =>
    HEIGHT - MARGIN.bottom - (value / most) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const parts = [
    text(MARGIN.left, 18, `Cost of one of many ${name}, smallest size = 1`),
    ...ticks(most).map((value) => level(y(value), '') + text(8, y(value) + 4, value.toFixed(1))),
    level(y(LIMIT), '6 4'),
    ...measurements.map(({ size }, index) => text(x(index) - 12, HEIGHT - 16, size.toLocaleString('en'))),
    ...lines.map(({ figure, values }, index) => polyline(figure, values, { index, x, y })),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
${parts.join('\n')}
</svg>
`;
}

function polyline(
  { title }: Figure,
  values: readonly number[],
  {
    index,
    x,
    y,
  }: { readonly index: number; readonly x: (at: number) => number; readonly y: (value: number) => number },
): string {
  const colour = COLOURS[index % COLOURS.length] ?? GREY;
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const [left, top] = [WIDTH - MARGIN.right + 16, MARGIN.top + 8 + index * 20];
  return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>
<rect x="${left}" y="${top}" width="12" height="4" fill="${colour}"/>${text(left + 18, top + 6, title)}`;
}

function ticks(most: number): readonly number[] {
  const step = most > 4 ? 2 : 0.5;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

function level(y: number, dashes: string): string {
  return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" stroke="${GREY}" stroke-width="${dashes === '' ? 0.4 : 1}" stroke-dasharray="${dashes}"/>`;
}

function text(x: number, y: number, content: string): string {
  return `<text x="${x.toFixed(0)}" y="${y.toFixed(0)}" fill="${GREY}">${content}</text>`;
}
