/* Draws single panels of a board as SVG. A picture shows the shape of a board, so that legends and tables are cut. */

import type { Panel } from '../../../deploy/boards/board.ts';

/** One series of a panel: its name, its labels, and its values over time in seconds. */
export interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [seconds: number, value: number])[];
}

/** A moment that all panels with a time axis mark. */
export interface MarkedMoment {
  readonly seconds: number;
  readonly color: string;
}

/** What is seen: a range of time, the step between values, and marks. */
export interface TimeAxis {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly marks: readonly MarkedMoment[];
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const COLORS = ['#3274d9', '#e0752d', '#299c46', '#a352cc', '#e02f44', '#0e9aa7', '#8f6b00'];
const GREEN = '#299c46';
const RED = '#e02f44';
const LEFT = 64;
const TOP = 34;
const RIGHT = 12;
const MAX_NAMES = 5;
const MAX_ROWS = 6;
/** Of the labels in a table; those of the scrape are the same in each row. */
const TABLE_LABELS = ['queue', 'module', 'hook', 'binding', 'task_type'];
const UNITS = [' ', ' Ki', ' Mi', ' Gi'];

/** The inside of a panel, below its title. */
export function drawPanel(panel: Panel, lines: readonly Line[], axis: TimeAxis, size: Size): string {
  switch (panel.kind) {
    case 'stat':
      return drawStat(panel, lines, size);
    case 'timeseries':
      return drawTimeseries(panel, lines, axis, size);
    case 'state-timeline':
      return drawStates(lines, axis, size);
    case 'table':
      return drawTable(panel, lines, size);
    default:
      return panel.kind satisfies never;
  }
}

function drawStat({ unit, redFrom = Number.POSITIVE_INFINITY }: Panel, [line]: readonly Line[], size: Size) {
  const value = line?.points.at(-1)?.[1] ?? 0;
  const color = value >= redFrom ? RED : GREEN;
  const attributes = `font-size="34" fill="${color}" text-anchor="middle"`;
  return textAt(size.width / 2, size.height / 2 + 26, valueText(value, unit), attributes);
}

function drawTimeseries({ unit }: Panel, lines: readonly Line[], axis: TimeAxis, size: Size): string {
  const bottom = size.height - 44;
  const finite = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const top = Math.max(...finite, 0) || 1;
  const x = scale(axis, size);
  const y = (value: number): number => bottom - (value / top) * (bottom - TOP - 8);
  const grid = [0, top / 2, top].map(
    (value) =>
      `<path d="M${LEFT} ${round(y(value))}H${size.width - RIGHT}" stroke="#e4e7e7"/>${textAt(LEFT - 6, y(value) + 4, valueText(value, unit), 'text-anchor="end"')}`,
  );
  const curves = lines.map(({ points }, index) => {
    let last = Number.NEGATIVE_INFINITY;
    const path = points
      .filter(([, value]) => Number.isFinite(value))
      .map(([seconds, value]) => {
        const command = seconds - last > axis.step * 1.5 ? 'M' : 'L';
        last = seconds;
        return `${command}${round(x(seconds))} ${round(y(value))}`;
      });
    return `<path d="${path.join('')}" fill="none" stroke="${colorOf(index)}" stroke-width="1.5"/>`;
  });
  return [
    ...grid,
    markLines(axis, x, bottom),
    ...curves,
    times(axis, size, bottom),
    legend(lines, size),
  ].join('');
}

/** One band for each series, while it has a value other than 0. */
function drawStates(lines: readonly Line[], axis: TimeAxis, size: Size): string {
  const x = scale(axis, size);
  const bottom = size.height - 26;
  const height = (bottom - TOP - 4) / Math.max(lines.length, 1);
  const bands = lines.map(({ name, points }, index) => {
    const held = periods(
      points.filter(([, value]) => value !== 0),
      axis.step,
    );
    const shown = held.map(
      ([from, to]) => `M${round(x(from))} 0H${round(x(to))}v${round(height - 3)}H${round(x(from))}z`,
    );
    const top = round(TOP + 4 + index * height);
    return `<g transform="translate(0 ${top})"><path d="${shown.join('')}" fill="${colorOf(index)}"/>${textAt(LEFT - 6, height / 2 + 3, cut(name, 9), 'text-anchor="end"')}</g>`;
  });
  return [...bands, markLines(axis, x, bottom), times(axis, size, bottom)].join('');
}

/** Start and end of each period without a gap. */
export function periods(
  points: readonly (readonly [seconds: number, value: number])[],
  step: number,
): readonly (readonly [from: number, to: number])[] {
  const found: [number, number][] = [];
  for (const [seconds] of points) {
    const last = found.at(-1);
    if (last !== undefined && seconds - last[1] <= step * 1.5) last[1] = seconds;
    else found.push([seconds, seconds]);
  }
  return found;
}

function drawTable({ unit }: Panel, lines: readonly Line[], size: Size): string {
  const columns = TABLE_LABELS.filter((label) => lines.some(({ labels }) => (labels[label] ?? '') !== ''));
  const width = (size.width - 24) / (columns.length + 1);
  const cells = [...columns.map((label) => label), 'Value'];
  const rows = lines
    .slice(0, MAX_ROWS)
    .map(({ labels, points }) => [
      ...columns.map((label) => labels[label] ?? ''),
      valueText(points.at(-1)?.[1] ?? Number.NaN, unit),
    ]);
  const drawn = [cells, ...rows].map((row, line) =>
    row
      .map((cell, column) =>
        textAt(
          12 + column * width,
          TOP + 16 + line * 24,
          cut(cell, width / 7),
          line === 0 ? 'font-weight="bold"' : '',
        ),
      )
      .join(''),
  );
  return drawn.join('');
}

function legend(lines: readonly Line[], { height }: Size): string {
  let x = LEFT;
  const names = lines.filter(({ name }) => name !== '').slice(0, MAX_NAMES);
  return names
    .map(({ name }) => {
      const text = cut(name, 26);
      const color = colorOf(lines.findIndex((line) => line.name === name));
      const drawn = `<path d="M${x} ${height - 14}h10" stroke="${color}" stroke-width="3"/>${textAt(x + 14, height - 10, text)}`;
      x += 26 + text.length * 6;
      return drawn;
    })
    .join('');
}

function markLines({ marks }: TimeAxis, x: (seconds: number) => number, bottom: number): string {
  return marks
    .map(
      ({ seconds, color }) =>
        `<path d="M${round(x(seconds))} ${TOP}V${bottom}" stroke="${color}" stroke-dasharray="3 3"/>`,
    )
    .join('');
}

/** Minutes and seconds since the start of the picture. */
function times({ start, end }: TimeAxis, { width }: Size, bottom: number): string {
  const ends = [
    [LEFT, 0, 'start'],
    [width - RIGHT, end - start, 'end'],
  ] as const;
  return ends
    .map(([x, seconds, anchor]) => {
      const text = `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;
      return textAt(x, bottom + 14, text, `text-anchor="${anchor}"`);
    })
    .join('');
}

function scale({ start, end }: TimeAxis, { width }: Size): (seconds: number) => number {
  return (seconds) => LEFT + ((seconds - start) / (end - start)) * (width - LEFT - RIGHT);
}

/** A value as short as Grafana shows it. */
export function valueText(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  if (unit === 's')
    return value !== 0 && Math.abs(value) < 1 ? `${short(value * 1_000)} ms` : `${short(value)} s`;
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit !== 'bytes') return short(value);
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), UNITS.length - 1);
  return `${short(value / 1_024 ** power)}${UNITS[power] ?? ''}B`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(value >= 1_000 ? 4 : 3)));
}

export function textAt(x: number, y: number, text: string, attributes = ''): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped}</text>`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.floor(length) - 1)}…`;
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? GREEN;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
