/* Which rows of a long table are rendered: a thousand modules would make every update slow. */

/** Rows of a long table that are in the document: from `first` to before `end`. */
export interface RowWindow {
  readonly first: number;
  readonly end: number;
  /** Heights, in pixels, of the space for the rows before and after them. */
  readonly before: number;
  readonly after: number;
}

/** Shorter tables are shown whole, so that the browser's own search finds everything in them. */
export const WINDOWED_FROM = 200;
const SPARE_ROWS = 12;

/**
 * Which rows are seen, and a few more on both sides.
 *
 * @param top pixels of the table that are above the upper edge of the window; negative if it begins below that
 */
export function rowWindow(count: number, rowHeight: number, top: number, height: number): RowWindow {
  if (count <= WINDOWED_FROM) return { first: 0, end: count, before: 0, after: 0 };
  const seen = Math.ceil(height / rowHeight);
  const wanted = Math.floor(top / rowHeight) - SPARE_ROWS;
  const first = Math.min(Math.max(0, wanted), Math.max(0, count - seen));
  const end = Math.min(count, Math.max(0, Math.floor(top / rowHeight)) + seen + SPARE_ROWS);
  const last = Math.max(first, end);
  return { first, end: last, before: first * rowHeight, after: (count - last) * rowHeight };
}
