const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: String.raw`\x00-\x7F`,
  blank: String.raw`\t `,
  cntrl: String.raw`\x00-\x1F\x7F`,
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: String.raw`!-\/:-@\[-\x60{-~`,
  space: String.raw`\t\n\v\f\r `,
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/**
 * A regular expression as schemas have them, in the syntax of RE2: besides what both know, `(?i)` at its start, `\A`,
 * `\z` and classes such as `[[:alpha:]]`.
 *
 * @throws SyntaxError for anything else that JavaScript does not know
 */
export function schemaPattern(pattern: string): RegExp {
  const { flags = '', rest = pattern } = /^\(\?(?<flags>[ims]+)\)(?<rest>.*)$/s.exec(pattern)?.groups ?? {};
  const source = rest
    .replaceAll(/\[:(?<name>[a-z]+):\]/g, (text, name: string) => POSIX_CLASSES[name] ?? text)
    .replaceAll(/(?<!\\)((?:\\\\)*)\\A/g, '$1(?<![\\s\\S])')
    .replaceAll(/(?<!\\)((?:\\\\)*)\\z/g, '$1(?![\\s\\S])');
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Needless escapes such as `\-` are errors in the Unicode mode only.
    return new RegExp(source, flags);
  }
}
