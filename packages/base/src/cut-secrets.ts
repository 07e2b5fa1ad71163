/** The mark in the middle of a long string that was cut. */
const CUT = '…';
/** The mark at its end, or in JSON at the end of one of its strings, whose quotes are escaped in JSON within JSON. */
const CUT_END = ':truncated';
const BEHIND_CUT_END: readonly (string | undefined)[] = [undefined, '"', '\\'];

/**
 * Hides what is left of a secret where a text was cut in the middle of it: its beginning before the mark of the cut, or
 * its end after it. What is known of `secrets` is kept, so the array must not change.
 *
 * @param shortest fewer characters than this reveal nothing; at least 2
 */
export function hideCutSecrets(
  text: string,
  secrets: readonly string[],
  { hidden, shortest }: Hiding,
): string {
  return [CUT, CUT_END].reduce((rest, mark) => hideAround(rest, mark, secrets, { hidden, shortest }), text);
}

interface Hiding {
  readonly hidden: string;
  readonly shortest: number;
}

function hideAround(
  text: string,
  mark: string,
  secrets: readonly string[],
  { hidden, shortest }: Hiding,
): string {
  let [result, done, from] = ['', 0, 0];
  // A search for a word is much faster than one for a pattern, and most texts have no mark.
  for (let index = text.indexOf(mark), next = -1; index >= 0; index = next) {
    const after = index + mark.length;
    next = text.indexOf(mark, after);
    if (mark === CUT_END && !BEHIND_CUT_END.includes(text[after])) continue;
    const known = endsOf(secrets, shortest);
    const beginning = beginningAt(text, from, index, known);
    const end = endAt(text, after, next < 0 ? text.length : next, known);
    from = after + end;
    if (beginning > 0) {
      result += text.slice(done, index - beginning) + hidden;
      done = index;
    }
    if (end > 0) {
      result += text.slice(done, after) + hidden;
      done = from;
    }
  }
  return done === 0 ? text : result + text.slice(done);
}

/** The first and the last characters of secrets: a text has hundreds of marks, and each is compared with all secrets. */
interface SecretEnds {
  readonly shortest: number;
  readonly longest: number;
  readonly byStart: ReadonlyMap<string, readonly string[]>;
  readonly byEnd: ReadonlyMap<string, readonly string[]>;
  /** Hashes of the first two characters, and of the last two. */
  readonly starts: Uint8Array;
  readonly ends: Uint8Array;
}

const HASHES = 1 << 14;
const KNOWN = new WeakMap<readonly string[], SecretEnds>();

function endsOf(secrets: readonly string[], shortest: number): SecretEnds {
  const known = KNOWN.get(secrets);
  if (known?.shortest === shortest) return known;
  const long = secrets.filter((secret) => secret.length >= shortest);
  const [starts, ends] = [new Uint8Array(HASHES), new Uint8Array(HASHES)];
  for (const secret of long) {
    starts[pairHash(secret, 0)] = 1;
    ends[pairHash(secret, secret.length - 2)] = 1;
  }
  const made = {
    shortest,
    longest: long.reduce((longest, { length }) => Math.max(longest, length), 0),
    byStart: Map.groupBy(long, (secret) => secret.slice(0, shortest)),
    byEnd: Map.groupBy(long, (secret) => secret.slice(-shortest)),
    starts,
    ends,
  };
  KNOWN.set(secrets, made);
  return made;
}

function pairHash(text: string, index: number): number {
  return (text.charCodeAt(index) * 31 + text.charCodeAt(index + 1)) & (HASHES - 1);
}

/** How many characters between the places, at the end of them, are the beginning of a secret; 0 for fewer than `shortest`. */
function beginningAt(
  text: string,
  from: number,
  to: number,
  { shortest, longest, starts, byStart }: SecretEnds,
): number {
  for (let at = Math.max(from, to - longest); at <= to - shortest; at += 1) {
    if (starts[pairHash(text, at)] !== 1) continue;
    const candidates = byStart.get(text.slice(at, at + shortest));
    if (candidates?.some((secret) => secret.startsWith(text.slice(at, to))) === true) return to - at;
  }
  return 0;
}

/** How many characters between the places, at the beginning of them, are the end of a secret; 0 for fewer than `shortest`. */
function endAt(
  text: string,
  from: number,
  to: number,
  { shortest, longest, ends, byEnd }: SecretEnds,
): number {
  for (let end = Math.min(to, from + longest); end >= from + shortest; end -= 1) {
    if (ends[pairHash(text, end - 2)] !== 1) continue;
    const candidates = byEnd.get(text.slice(end - shortest, end));
    if (candidates?.some((secret) => secret.endsWith(text.slice(from, end))) === true) return end - from;
  }
  return 0;
}
