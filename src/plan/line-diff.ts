/** A line diff with three lines of context, bounded in time for large texts. */

import { diffArrays } from 'diff';

export type DiffLine =
  | { readonly type: 'same' | 'removed' | 'added'; readonly text: string }
  /** Lines that are equal on both sides and not shown. */
  | { readonly type: 'gap'; readonly lines: number };

/** Lines of equal text that are shown around a difference. */
const CONTEXT = 3;
/**
 * Texts that differ in more lines are not compared: the one is shown as removed, the other as added. The time grows with
 * the square of this number; here it is a tenth of a second, in which the daemon does nothing else.
 */
const MAX_DIFFERENT_LINES = 1_000;

/** How one text becomes the other, line by line; nothing when they are equal. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  if (before === after) return [];
  return withGaps(allLines(linesOf(before), linesOf(after)));
}

function linesOf(content: string): string[] {
  return content === '' ? [] : content.replace(/\n$/, '').split('\n');
}

/** The shortest way by removing and adding lines. */
function allLines(before: string[], after: string[]): readonly DiffLine[] {
  const changes = diffArrays(before, after, { maxEditLength: MAX_DIFFERENT_LINES }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  return changes.flatMap(({ value, removed, added }) => {
    const type = removed ? 'removed' : added ? 'added' : 'same';
    return value.map((text): DiffLine => ({ type, text }));
  });
}

/** Replaces long stretches of equal lines by their number. */
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
