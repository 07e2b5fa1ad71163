const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** A text as content or as a quoted attribute of XML 1.0. Characters that XML cannot have at all become U+FFFD. */
export function xmlText(text: string): string {
  return text
    .replaceAll(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"\n]/g, (character) => ENTITIES[character] ?? '');
}
