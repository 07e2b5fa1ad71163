const CUT = '…';

/** A string of at most so many characters: both ends of a longer one, with `…` in place of its middle. */
export function cutMiddle(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const kept = maxCharacters - CUT.length;
  const head = text.slice(0, Math.ceil(kept / 2));
  const tail = text.slice(text.length - Math.floor(kept / 2));
  // A cut within a character leaves a half of it.
  return `${head.replace(/[\ud800-\udbff]$/, '')}${CUT}${tail.replace(/^[\udc00-\udfff]/, '')}`;
}
