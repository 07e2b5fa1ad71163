/** The mark at the place where a long string was cut. */
const CUT = /…|:truncated$/g;

/**
 * Hides what is left of a secret where a text was cut in the middle of it: its beginning before the mark of the cut, or
 * its end after it.
 *
 * @param shortest fewer characters than this reveal nothing
 */
export function hideCutSecrets(
  text: string,
  secrets: readonly string[],
  { hidden, shortest }: { readonly hidden: string; readonly shortest: number },
): string {
  let result = '';
  let done = 0;
  for (const { 0: mark, index } of text.matchAll(CUT)) {
    const before = text.slice(done, index);
    const beginning = Math.max(0, ...secrets.map((secret) => overlap(before, secret)));
    const after = index + mark.length;
    const end = Math.max(
      0,
      ...secrets.map((secret) => overlap(secret, text.slice(after, after + secret.length))),
    );
    result += beginning < shortest ? before : before.slice(0, -beginning) + hidden;
    result += mark + (end < shortest ? '' : hidden);
    done = end < shortest ? after : after + end;
  }
  return result + text.slice(done);
}

/** How many characters at the end of one text are the beginning of the other, without being all of the other. */
function overlap(left: string, right: string): number {
  const last = left.at(-1);
  for (let length = Math.min(left.length, right.length); length > 0; length -= 1)
    if (right[length - 1] === last && left.endsWith(right.slice(0, length))) return length;
  return 0;
}
