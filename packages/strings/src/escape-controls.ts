/** Characters that change the direction of the text behind them make a line read as another one. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The text with control characters, those that change its direction, and line separators written as `\uXXXX`: one line, harmless in a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Log viewers and terminals become unusable with longer lines. */
const MAX_LINE = 4_000;
const LINE_HEAD = 1_000;

/** A line that a person can read: of a longer one the beginning and the end, which programs print the reason for a failure in. */
export function readableLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const [head, tail] = [line.slice(0, LINE_HEAD), line.slice(LINE_HEAD - MAX_LINE)];
  return `${head} … (${line.length - MAX_LINE} characters left out) … ${tail}`;
}

/** The text in one line that is harmless in a terminal: lines are joined by a space, other control characters escaped. */
export function oneLine(text: string): string {
  return escapeControls(text.trim().replaceAll(/\s*\n\s*/g, ' '));
}

/** The text in one line that is harmless in a terminal, cut after so many characters. */
export function shortLine(text: string, maxCharacters: number): string {
  const line = escapeControls(text);
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}
