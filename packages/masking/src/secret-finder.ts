// Finds secrets in a string, however a program has written them: escaped, percent-encoded, in base64, line by
// line. The string is decoded once per kind of escape (`decoded-text.ts`), and one index (`pattern-index.ts`)
// is searched for all secrets at once, so the time does not grow with their number. Positions are mapped back
// to the original string.

import { escapeControls } from '@addon-operator/strings/escape-controls';
import { CutSecrets } from './cut-secrets.ts';
import { type DecodedText, decodedTexts } from './decoded-text.ts';
import { type Occurrence, PatternIndex, SHORTEST_PATTERN } from './pattern-index.ts';

/** Lines of a secret of several lines, such as a key, are also found one by one: output is logged line by line. */
const SHORTEST_LINE = 8;

/** A secret, or the remainder of one that was cut, at a place of a string. */
export interface FoundSecret {
  readonly start: number;
  readonly end: number;
  /** Undefined for a part that a cut has left. */
  readonly secret: string | undefined;
  readonly isBase64: boolean;
}

/** A string by which a secret is found. */
interface SecretPattern {
  readonly text: string;
  readonly secret: string;
  /** In base64: how many bytes are before the secret in a group of three. The text is what these and those behind it do not change. */
  readonly offset?: number;
}

/**
 * Finds secrets in the forms in which programs write them: as they are, in JSON and in JSON within JSON with any escapes, behind backslashes,
 * percent-encoded, in base64 at any offset, in one line, and line by line. The time depends on the text, not on the number of secrets.
 */
export class SecretFinder {
  readonly #patterns = new Map<string, readonly SecretPattern[]>();
  readonly #index = new PatternIndex<SecretPattern>();
  readonly #cuts = new CutSecrets(this.#index);
  readonly #further: SecretFinder | undefined;
  /** How many patterns have a space, and a backslash. */
  readonly #having = { ' ': 0, '\\': 0 };

  /** @param further finds secrets besides those that are added here */
  constructor(further?: SecretFinder) {
    this.#further = further;
  }

  /** How many secrets were added here. */
  get size(): number {
    return this.#patterns.size;
  }

  has(secret: string): boolean {
    return this.#patterns.has(secret) || this.#further?.has(secret) === true;
  }

  /** From now on this secret is found. Shorter ones than four characters occur in too many places that have nothing to do with them. */
  add(secret: string): void {
    if (secret.trim().length < SHORTEST_PATTERN || this.has(secret)) return;
    const patterns = [...plainPatterns(secret), ...base64Patterns(secret)];
    this.#patterns.set(secret, patterns);
    for (const pattern of patterns) {
      this.#index.add(pattern);
      this.#cuts.add(pattern.text);
      this.#count(pattern.text, 1);
    }
  }

  delete(secret: string): void {
    for (const pattern of this.#patterns.get(secret) ?? []) {
      this.#index.delete(pattern);
      this.#cuts.delete(pattern.text);
      this.#count(pattern.text, -1);
    }
    this.#patterns.delete(secret);
  }

  /** All secrets in a text, in order. Those that overlap are one, named after the first of them. */
  find(text: string): readonly FoundSecret[] {
    const found = this.#further === undefined ? [] : [...this.#further.find(text)];
    const characters = { haveSpaces: this.#having[' '] > 0, haveBackslashes: this.#having['\\'] > 0 };
    const texts = this.size > 0 ? decodedTexts(text, characters) : [];
    for (const decoded of texts) for (const each of this.#foundIn(decoded)) found.push(each);
    return found.length < 2 ? found : merged(found);
  }

  /** Counts patterns with characters that need further decodings. */
  #count(text: string, change: 1 | -1): void {
    for (const character of [' ', '\\'] as const)
      if (text.includes(character)) this.#having[character] += change;
  }

  /** Secrets and remainders in one decoded form, with places in the original string. */
  #foundIn({ text, sourceOf }: DecodedText): readonly FoundSecret[] {
    const whole = this.#index.find(text, (occurrence) => isSecretAt(text, occurrence));
    const parts = this.#cuts.find(text);
    if (whole.length === 0 && parts.length === 0) return [];
    return [
      ...whole.map(({ start, end, pattern: { secret, offset } }) => {
        const isBase64 = offset !== undefined;
        const [from, to] = isBase64 ? base64Range(text, start, end, secret, offset) : [start, end];
        return { start: sourceOf(from), end: sourceOf(to), secret, isBase64 };
      }),
      ...parts.map(([start, end]) => ({
        start: sourceOf(start),
        end: sourceOf(end),
        secret: undefined,
        isBase64: false,
      })),
    ];
  }
}

/** The secret, its lines, and the same in one line and with escaped control characters. */
function plainPatterns(secret: string): readonly SecretPattern[] {
  const lines = secret.split('\n').map((line) => line.trim());
  const texts = [
    secret,
    secret.trim(),
    ...lines.filter((line) => line.length >= SHORTEST_LINE),
    // As queues and tables show what failed.
    secret.trim().replaceAll(/\s*\n\s*/g, ' '),
  ];
  return [...new Set([...texts, ...texts.map(escapeControls)])].map((text) => ({ text, secret }));
}

/** Base64 at its three offsets, in the alphabets for texts and for URLs. */
function base64Patterns(secret: string): readonly SecretPattern[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from('\0'.repeat(offset) + secret.trim());
    const wholeEnd = Math.floor((bytes.length * 8) / 6);
    const text = bytes.toString('base64').slice(firstWhole(offset), wholeEnd);
    const pattern = { text, secret, offset };
    if (!/[+/]/.test(text)) return [pattern];
    return [pattern, { ...pattern, text: text.replaceAll('+', '-').replaceAll('/', '_') }];
  });
}

/** Index of the first character of base64 that has no bit of the bytes before the secret. */
function firstWhole(offset: number): number {
  return Math.ceil((offset * 8) / 6);
}

/** Length of the secret in UTF-8, without surrounding white space. */
function bytesOf(secret: string): number {
  return Buffer.byteLength(secret.trim());
}

/** In base64 the characters at both ends of a secret also hold bits of its neighbors: the other bits must be the secret's. */
function isSecretAt(text: string, { start, end, pattern }: Occurrence<SecretPattern>): boolean {
  const { secret, offset } = pattern;
  if (offset === undefined) return true;
  const [from, to] = partialRange(start, end, secret, offset);
  const group = 'A'.repeat(firstWhole(offset) - (start - from)) + text.slice(Math.max(from, 0), to);
  return Buffer.from(group, 'base64').subarray(offset).toString() === secret.trim();
}

/** With the characters that have some bits of the secret. */
function partialRange(start: number, end: number, secret: string, offset: number): [number, number] {
  return [offset === 0 ? start : start - 1, (offset + bytesOf(secret)) % 3 === 0 ? end : end + 1];
}

/** With the padding, too. */
function base64Range(
  text: string,
  start: number,
  end: number,
  secret: string,
  offset: number,
): [number, number] {
  let [from, to] = partialRange(start, end, secret, offset);
  while (text.charAt(to) === '=') to += 1;
  return [from, to];
}

/** Joins overlapping places: two secrets may share characters. */
function merged(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const sorted = found.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const result: FoundSecret[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (last === undefined || next.start >= last.end) result.push(next);
    else if (next.end > last.end) result[result.length - 1] = { ...last, end: next.end };
  }
  return result;
}
