/** Ends the headline of a message: what a program printed follows below it, line by line. */
const BELOW = '\n\n';

/** A message of one sentence, with what a program printed below it; without more than one line the sentence alone. */
export function withLinesBelow(sentence: string, printed: string): string {
  return printed.includes('\n') ? `${sentence}${BELOW}${printed}` : sentence;
}

/** The first part of a message, as lists and conditions show it: all but the lines below it. */
export function headlineOf(message: string): string {
  return partsOf(message)[0];
}

/** The lines below the headline of a message; empty without any. */
export function linesBelow(message: string): string {
  return partsOf(message)[1].slice(BELOW.length);
}

/** The message with more words in its headline. */
export function withRemark(message: string, remark: string): string {
  const [headline, rest] = partsOf(message);
  return `${headline}${remark}${rest}`;
}

/** The headline, and the rest with its separator. */
function partsOf(message: string): readonly [string, string] {
  const end = message.indexOf(BELOW);
  return end === -1 ? [message, ''] : [message.slice(0, end), message.slice(end)];
}
