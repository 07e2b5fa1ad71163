import { inspect } from 'node:util';

const MAX_CHARACTERS = 4_096;

/**
 * Anything that was thrown, as text for a message: name and message of an error with the place it comes from, everything
 * else as `util.inspect` shows it. Never throws.
 *
 * @param ownDirectories places in them do not help an author and are skipped
 */
export function failureText(thrown: unknown, ownDirectories: readonly string[]): string {
  const text = tryText(thrown, ownDirectories);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** Getters of a thrown object may throw as well. */
function tryText(thrown: unknown, ownDirectories: readonly string[]): string {
  try {
    if (!(thrown instanceof Error)) return `it threw ${inspect(thrown, { depth: 2, breakLength: Infinity })}`;
    const { name, message, stack, cause } = thrown;
    const reason = cause === undefined ? '' : `: ${tryText(cause, ownDirectories)}`;
    return `${name}: ${message}${placeOf(stack, ownDirectories)}${reason}`;
  } catch {
    return 'it threw a value that cannot be printed';
  }
}

/** The first line of a stack that is in a file of the author's; of a file that is no code, the line it fails at. */
function placeOf(stack: unknown, ownDirectories: readonly string[]): string {
  const unparsed = /^(?:file:\/\/)?(\/\S.*:\d+)\n/.exec(String(stack))?.[1];
  if (unparsed !== undefined) return ` (at ${unparsed})`;
  const line = String(stack)
    .split('\n')
    .find(
      (each) =>
        /^\s+at .*\//.test(each) &&
        !each.includes('node:') &&
        !ownDirectories.some((own) => each.includes(own)),
    );
  const place = line === undefined ? undefined : /(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/.exec(line)?.[1];
  return place === undefined ? '' : ` (at ${place})`;
}
