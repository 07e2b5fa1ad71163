/** How many causes are followed: enough for every real chain, an end for a cyclic one. */
const MAX_CAUSES = 10;

/**
 * The message of a thrown value, followed by those of its causes and collected errors, separated by `: `. A
 * cause that its error already quotes is not repeated.
 */
export function errorText(error: unknown): string {
  let text = ownText(error);
  let cause = causeOf(error);
  for (let depth = 0; cause !== undefined && depth < MAX_CAUSES; depth += 1) {
    const causeText = ownText(cause);
    if (!text.includes(causeText)) text += `: ${causeText}`;
    cause = causeOf(cause);
  }
  return text;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function ownText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? error.name : error.message;
  if (!(error instanceof AggregateError)) return own;
  return `${own} (${error.errors.slice(0, MAX_CAUSES).map(String).join('; ')})`;
}
