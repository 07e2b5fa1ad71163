/**
 * Whether a word matches a list of patterns as OpenSSH reads one: separated by commas, `*` for any characters, `?` for
 * one. A pattern behind `!` that matches decides against the word, wherever it is in the list; alone it accepts nothing.
 */
export function matchesList(list: string, word: string): boolean {
  const patterns = list.split(',');
  const isRefused = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1), word));
  return !isRefused && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern, word));
}

/** Goes back to the last `*` only, so that no pattern takes longer than the product of both lengths. */
function matches(pattern: string, word: string): boolean {
  let at = 0;
  let star: { readonly pattern: number; readonly word: number } | undefined;
  let index = 0;
  while (index < word.length) {
    if (pattern[at] === '*') {
      star = { pattern: at, word: index };
      at += 1;
    } else if (pattern[at] === '?' || pattern[at] === word[index]) {
      at += 1;
      index += 1;
    } else if (star === undefined) {
      return false;
    } else {
      star = { pattern: star.pattern, word: star.word + 1 };
      at = star.pattern + 1;
      index = star.word;
    }
  }
  return /^\**$/u.test(pattern.slice(at));
}
