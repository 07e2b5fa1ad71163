export type DiffLine =
  | { readonly type: 'same' | 'removed' | 'added'; readonly text: string }
  /** Lines that are equal on both sides and not shown. */
  | { readonly type: 'gap'; readonly lines: number };

/** Lines of equal text that are shown around a difference. */
const CONTEXT = 3;
/** Tables of differences larger than this are not worked out: the one text is shown as removed, the other as added. */
const MAX_CELLS = 4_000_000;

/** How one text becomes the other, line by line; nothing when they are equal. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  if (before === after) return [];
  return withGaps(allLines(linesOf(before), linesOf(after)));
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function allLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end += 1;
  const same = (text: string): DiffLine => ({ type: 'same', text });
  return [
    ...before.slice(0, start).map(same),
    ...differing(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** The shortest way by removing and adding lines: what both have in common, in the longest possible order, stays. */
function differing(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_CELLS) return [...before.map(removed), ...after.map(added)];
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [left, right] = [before[row], after[column]];
    if (left !== undefined && left === right) {
      lines.push({ type: 'same', text: left });
      row += 1;
      column += 1;
    } else if (
      left !== undefined &&
      (right === undefined || cell(row + 1, column) >= cell(row, column + 1))
    ) {
      lines.push(removed(left));
      row += 1;
    } else if (right !== undefined) {
      lines.push(added(right));
      column += 1;
    }
  }
  return lines;

  function cell(atRow: number, atColumn: number): number {
    return common[atRow * width + atColumn] ?? 0;
  }
}

/** For each pair of positions, how many lines the rests behind them have in common in the same order; row by row. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => table[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      table[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return table;
}

function removed(text: string): DiffLine {
  return { type: 'removed', text };
}

function added(text: string): DiffLine {
  return { type: 'added', text };
}

function withGaps(lines: readonly DiffLine[]): DiffLine[] {
  const isShown = lines.map((_line, index) =>
    lines
      .slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1)
      .some(({ type }) => type === 'removed' || type === 'added'),
  );
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isShown[index] === true) shown.push(line);
    else if (last?.type === 'gap') shown[shown.length - 1] = { type: 'gap', lines: last.lines + 1 };
    else shown.push({ type: 'gap', lines: 1 });
  }
  return shown;
}
