const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** The text as one word of a POSIX shell command. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
