/** The mark at the place where a long string was cut. */
const CUT = /…|:truncated$/g;

/**
 * Hides what is left of a secret where a text was cut in the middle of it: its beginning before the mark of the cut, or
 * its end after it. What is known of `secrets` is kept, so the array must not change.
 *
 * @param shortest fewer characters than this reveal nothing; at least 2
 */
export function hideCutSecrets(
  text: string,
  secrets: readonly string[],
  { hidden, shortest }: { readonly hidden: string; readonly shortest: number },
): string {
  let result = '';
  let done = 0;
  for (const { 0: mark, index } of text.matchAll(CUT)) {
    const known = endsOf(secrets, shortest);
    const before = text.slice(done, index);
    const beginning = beginningAt(before, known);
    const after = index + mark.length;
    const end = endAt(text.slice(after, after + known.longest), known);
    result += beginning === 0 ? before : before.slice(0, -beginning) + hidden;
    result += mark + (end === 0 ? '' : hidden);
    done = after + end;
  }
  return result + text.slice(done);
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

/** How many characters at the end of a text are the beginning of a secret; 0 for fewer than `shortest`. */
function beginningAt(text: string, { shortest, longest, starts, byStart }: SecretEnds): number {
  for (let at = Math.max(0, text.length - longest); at <= text.length - shortest; at += 1) {
    if (starts[pairHash(text, at)] !== 1) continue;
    const candidates = byStart.get(text.slice(at, at + shortest));
    if (candidates?.some((secret) => secret.startsWith(text.slice(at))) === true) return text.length - at;
  }
  return 0;
}

/** How many characters at the beginning of a text are the end of a secret; 0 for fewer than `shortest`. */
function endAt(text: string, { shortest, ends, byEnd }: SecretEnds): number {
  for (let length = text.length; length >= shortest; length -= 1) {
    if (ends[pairHash(text, length - 2)] !== 1) continue;
    const candidates = byEnd.get(text.slice(length - shortest, length));
    if (candidates?.some((secret) => secret.endsWith(text.slice(0, length))) === true) return length;
  }
  return 0;
}
