/** A text in which escapes are decoded. */
export interface DecodedText {
  readonly text: string;
  /** Where what is at a place of it begins in the source. */
  readonly sourceOf: (place: number) => number;
}

/** Decodes the escape at a place of a string. Undefined for a mark that begins none. */
type EscapeReader = (text: string, at: number) => Escape | undefined;

/** One decoded escape. */
interface Escape {
  readonly codePoint: number;
  /** In the source. */
  readonly length: number;
}

/** Control characters by the code of the letter behind the backslash. */
const CONTROLS = new Map(
  ['b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
);
/** Numbers of hexadecimal digits by the code of the letter behind the backslash: x, u, U. */
const DIGITS = new Map([
  [0x78, 2],
  [0x75, 4],
  [0x55, 8],
]);
const MAX_CODE_POINT = 0x10_ff_ff;

/** Characters in secrets that allow further spellings of them. */
export interface SecretCharacters {
  readonly haveSpaces: boolean;
  readonly haveBackslashes: boolean;
}

/**
 * The text as it is, and as readers see it who decode what is escaped: backslashes as JSON, YAML and programming languages write them, those
 * within these, and percent-encoding, also of or within one of the others.
 */
export function decodedTexts(
  text: string,
  { haveSpaces, haveBackslashes }: SecretCharacters,
): readonly DecodedText[] {
  const plain: DecodedText = { text, sourceOf: (place) => place };
  const texts = [plain];
  // JSON within JSON is escaped twice.
  const once = decoded(plain, '\\', backslashEscape);
  const twice = once && decoded(once, '\\', backslashEscape);
  if (once !== undefined) texts.push(once);
  if (twice !== undefined) texts.push(twice);
  // Encoding for URLs leaves no backslash but that of a secret, so that those that are there can be decoded first.
  for (const each of inUrl(twice ?? once ?? plain, haveSpaces)) {
    const further = [decoded(each, '\\', backslashEscape), decoded(each, '%', percentEscape)];
    texts.push(each, ...further.filter((inner) => inner !== undefined));
  }
  if (once !== undefined && haveBackslashes) texts.push(...inUrl(plain, haveSpaces));
  return texts;
}

/** The text without percent-encoding, also with spaces for `+`. */
function inUrl(from: DecodedText, haveSpaces: boolean): readonly DecodedText[] {
  const inPath = decoded(from, '%', percentEscape);
  const texts = inPath === undefined ? [] : [inPath];
  if (haveSpaces && from.text.includes('+')) {
    const spaced = { ...from, text: from.text.replaceAll('+', ' ') };
    texts.push(decoded(spaced, '%', percentEscape) ?? spaced);
  }
  return texts;
}

/** The text with decoded backslash escapes, such as that of a JSON document with the strings in it. */
export function unescaped(text: string): string {
  return decoded({ text, sourceOf: (place) => place }, '\\', backslashEscape)?.text ?? text;
}

/** Undefined if there is no escape. */
function decoded(
  { text, sourceOf }: DecodedText,
  mark: string,
  escapeAt: EscapeReader,
): DecodedText | undefined {
  let at = text.indexOf(mark);
  if (at < 0) return undefined;
  const [ends, sources]: [number[], number[]] = [[], []];
  let [result, done] = ['', 0];
  for (; at >= 0; at = text.indexOf(mark, Math.max(at + 1, done))) {
    const escape = escapeAt(text, at);
    if (escape === undefined) continue;
    result += text.slice(done, at) + String.fromCodePoint(escape.codePoint);
    done = at + escape.length;
    ends.push(result.length);
    sources.push(done);
  }
  if (ends.length === 0) return undefined;
  return {
    text: result + text.slice(done),
    sourceOf: (place) => {
      const behind = lastUpTo(ends, place);
      return sourceOf(behind < 0 ? place : place - (ends[behind] ?? 0) + (sources[behind] ?? 0));
    },
  };
}

/** Index of the last of the rising numbers that is not greater; -1 if all are. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** `\n`, `\u00e9`, `\xe9`, `\U0001f600`, and `\` before a character that is neither letter nor digit, which shells write too. */
function backslashEscape(text: string, at: number): Escape | undefined {
  const next = text.charCodeAt(at + 1);
  if (isPunctuation(next)) return { codePoint: next, length: 2 };
  const control = CONTROLS.get(next);
  if (control !== undefined) return { codePoint: control, length: 2 };
  const digits = DIGITS.get(next);
  if (digits === undefined) return undefined;
  const codePoint = hexAt(text, at + 2, digits);
  return codePoint > MAX_CODE_POINT ? undefined : { codePoint, length: 2 + digits };
}

/** Any visible ASCII character but letters and digits. */
function isPunctuation(code: number): boolean {
  if (!(code >= 0x20 && code <= 0x7e)) return false;
  const isDigit = code >= 0x30 && code <= 0x39;
  const letter = code | 0x20;
  return !isDigit && !(letter >= 0x61 && letter <= 0x7a);
}

/** One character of UTF-8 whose bytes are percent-encoded. */
function percentEscape(text: string, at: number): Escape | undefined {
  const first = hexAt(text, at + 1, 2);
  if (first < 0x80) return { codePoint: first, length: 3 };
  const bytes = bytesOfCharacter(first);
  if (bytes === undefined) return undefined;
  let codePoint = first & (0x7f >> bytes);
  for (let index = 1; index < bytes; index += 1) {
    const place = at + 3 * index;
    const byte = text.charAt(place) === '%' ? hexAt(text, place + 1, 2) : 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    codePoint = (codePoint << 6) | (byte & 0x3f);
  }
  return codePoint > MAX_CODE_POINT ? undefined : { codePoint, length: 3 * bytes };
}

/** How many bytes of UTF-8 a character has that begins with this one. */
function bytesOfCharacter(first: number): number | undefined {
  if (first >= 0xc0 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf8 ? 4 : undefined;
}

/** A number of so many hexadecimal digits; infinite if there are fewer. */
function hexAt(text: string, from: number, digits: number): number {
  let value = 0;
  for (let place = from; place < from + digits; place += 1) {
    const code = text.charCodeAt(place);
    const letter = code | 0x20;
    if (code >= 0x30 && code <= 0x39) value = value * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x57;
    else return Number.POSITIVE_INFINITY;
  }
  return value;
}
