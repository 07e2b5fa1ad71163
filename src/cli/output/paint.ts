export type Paint = (style: Style, text: string) => string;
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Colours for a terminal that wants them; without them the text stays as it is. */
export function paintFor(hasColor: boolean): Paint {
  return (style, text) => (hasColor && text !== '' ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text);
}

/** Whether an output wants colours: a terminal, unless NO_COLOR is set (https://no-color.org) or it is a dumb one. */
export function wantsColor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
