/* Escapes characters that a reader cannot see; used by `escape-texts.ts` for everything that is rendered. */

/**
 * Characters that are not seen but change what is: controls except line feeds and tabs, and marks of the direction of
 * text, which can make a name look like another one.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- these are the ones
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text in which characters that are not seen are escapes, such as `\x1b` and `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
