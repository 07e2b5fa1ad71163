import { createHash } from 'node:crypto';
import type { Board, Panel } from '../../../deploy/boards/board.ts';
import { drawPanel, type Line, type TimeAxis, textAt } from './draw-panel.ts';

const COLUMN = 50;
const COLUMNS = 24;
const GAP = 8;
const LOW = 130;
const HIGH = 220;
const ROW_TITLE = 30;
const FONT = 'font-family="Helvetica, Arial, sans-serif" font-size="11" fill="#52545c"';

/** The lines of a panel. */
export type Lines = (panel: Panel) => readonly Line[];

/** A board as an SVG. It names the board that it was drawn from, so that a test sees when it is out of date. */
export function drawBoard(board: Board, lines: Lines, axis: TimeAxis): string {
  const parts: string[] = [];
  let top = GAP;
  for (const { title, panels } of board.rows) {
    parts.push(textAt(GAP, top + 20, title, 'font-size="15" font-weight="bold" fill="#24292e"'));
    top += ROW_TITLE;
    for (const line of placed(panels)) {
      const height = Math.max(...line.map(({ panel }) => heightOf(panel)));
      for (const { panel, column } of line)
        parts.push(
          `<g transform="translate(${column * COLUMN + GAP} ${top})">${framed(panel, lines(panel), axis)}</g>`,
        );
      top += height + GAP;
    }
  }
  const width = COLUMN * COLUMNS + GAP;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" data-board="${boardDigest(board)}" ${FONT}>`;
  return `${head}\n<rect width="100%" height="100%" fill="#f4f5f5"/>\n${parts.join('\n')}\n</svg>\n`;
}

/** Changes with the board. */
export function boardDigest(board: Board): string {
  return createHash('sha256').update(JSON.stringify(board)).digest('hex').slice(0, 16);
}

/** Panels in lines of 24 columns. */
function placed(panels: readonly Panel[]): readonly (readonly { panel: Panel; column: number }[])[] {
  const lines: { panel: Panel; column: number }[][] = [];
  let column = COLUMNS;
  for (const panel of panels) {
    if (column + panel.span > COLUMNS) {
      lines.push([]);
      column = 0;
    }
    lines.at(-1)?.push({ panel, column });
    column += panel.span;
  }
  return lines;
}

function heightOf({ kind }: Panel): number {
  return kind === 'stat' || kind === 'state-timeline' ? LOW : HIGH;
}

function framed(panel: Panel, lines: readonly Line[], axis: TimeAxis): string {
  const size = { width: panel.span * COLUMN - GAP, height: heightOf(panel) };
  const frame = `<rect width="${size.width}" height="${size.height}" rx="3" fill="#fff" stroke="#dce1e6"/>`;
  const title = textAt(12, 20, panel.title, 'font-size="13" fill="#24292e"');
  const inside =
    lines.length === 0
      ? textAt(size.width / 2, size.height / 2 + 8, 'No data', 'text-anchor="middle"')
      : drawPanel(panel, lines, axis, size);
  return `${frame}${title}${inside}`;
}
