const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** The text with control characters and line separators written as `\uXXXX`: one line, harmless in a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The text in one line that is harmless in a terminal: lines are joined by a space, other control characters escaped. */
export function oneLine(text: string): string {
  return escapeControls(text.trim().replaceAll(/\s*\n\s*/g, ' '));
}
