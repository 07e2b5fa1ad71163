/** Mistakes that a word of any length may hold. */
const MAX_MISTAKES = 2;

/**
 * The word that was probably meant: the one with the fewest letters missing, superfluous, wrong or swapped with a
 * neighbour. Undefined when no word is near: more than two mistakes, or as many as a third of the letters.
 */
export function similarWord(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.min(MAX_MISTAKES, Math.floor(word.length / 3)) + 1;
  for (const candidate of words) {
    const mistakes = mistakesBetween(word.toLowerCase(), candidate.toLowerCase());
    if (mistakes >= fewest) continue;
    best = candidate;
    fewest = mistakes;
  }
  return best;
}

/** ` (did you mean "…"?)` for the word that was probably meant, else nothing. */
export function didYouMean(word: string, words: readonly string[]): string {
  const similar = similarWord(word, words);
  return similar === undefined ? '' : ` (did you mean "${similar}"?)`;
}

/** Restricted Damerau-Levenshtein distance, row by row. */
function mistakesBetween(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isEqual = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next[column] = Math.min(
        at(next, column - 1) + 1,
        at(last, column) + 1,
        at(last, column - 1) + (isEqual ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, next];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
