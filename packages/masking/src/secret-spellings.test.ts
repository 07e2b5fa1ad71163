import { array, assert, constantFrom, property, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { Redactor } from './redactor.ts';

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** The spellings in which programs write this secret. */
const SECRET = 'Sup3r/S3cret+pass"word\\x&<é>~ 2026';

test.each([
  ['bash: echo', String.raw`pw=Sup3r/S3cret+pass"word\x&<é>~ 2026;`, 'pw=***;'],
  ['bash: printf %q', String.raw`pw=Sup3r/S3cret+pass\"word\\x\&\<é\>~\ 2026;`, 'pw=***;'],
  ['bash: echo | base64', 'U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5+IDIwMjYK', '***K'],
  ['bash: echo user:… | base64', 'bWU6U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5+IDIwMjYK', 'bWU6***K'],
  ['jq -a', String.raw`{"pw":"Sup3r/S3cret+pass\"word\\x&<\u00e9>~ 2026"}`, '{"pw":"***"}'],
  ['jq @uri', 'db://me:Sup3r%2FS3cret%2Bpass%22word%5Cx%26%3C%C3%A9%3E~%202026@h', 'db://me:***@h'],
  ['Python: json.dumps', String.raw`{"pw": "Sup3r/S3cret+pass\"word\\x&<\u00e9>~ 2026"}`, '{"pw": "***"}'],
  [
    'Python: json.dumps within json.dumps',
    String.raw`{"log": "{\"pw\": \"Sup3r/S3cret+pass\\\"word\\\\x&<\\u00e9>~ 2026\"}"}`,
    String.raw`{"log": "{\"pw\": \"***\"}"}`,
  ],
  ['Python: repr', String.raw`{'pw': 'Sup3r/S3cret+pass"word\\x&<é>~ 2026'}`, "{'pw': '***'}"],
  ['Python: ascii', String.raw`{'pw': 'Sup3r/S3cret+pass"word\\x&<\xe9>~ 2026'}`, "{'pw': '***'}"],
  ['Python: quote', 'Sup3r/S3cret%2Bpass%22word%5Cx%26%3C%C3%A9%3E~%202026', '***'],
  [
    'Python: urlencode',
    'user=me&pw=Sup3r%2FS3cret%2Bpass%22word%5Cx%26%3C%C3%A9%3E~+2026&a=b+c',
    'user=me&pw=***&a=b+c',
  ],
  ['Python: base64.b64encode', 'eDpTdXAzci9TM2NyZXQrcGFzcyJ3b3JkXHgmPMOpPn4gMjAyNg==', 'eD***'],
  [
    'Python: base64.urlsafe_b64encode without padding',
    'YWJjOlN1cDNyL1MzY3JldCtwYXNzIndvcmRceCY8w6k-fiAyMDI2',
    'YWJjO***',
  ],
  [
    'Go: json.Marshal, and toJson of helm',
    String.raw`{"pw":"Sup3r/S3cret+pass\"word\\x\u0026\u003cé\u003e~ 2026"}`,
    '{"pw":"***"}',
  ],
  [
    'Go: json.Marshal within json.Marshal',
    String.raw`{"log":"{\"pw\":\"Sup3r/S3cret+pass\\\"word\\\\x\\u0026\\u003cé\\u003e~ 2026\"}"}`,
    String.raw`{"log":"{\"pw\":\"***\"}"}`,
  ],
  ['Go: %+q', String.raw`pw="Sup3r/S3cret+pass\"word\\x&<\u00e9>~ 2026"`, 'pw="***"'],
  ['Go: url.QueryEscape', 'Sup3r%2FS3cret%2Bpass%22word%5Cx%26%3C%C3%A9%3E~+2026', '***'],
  [
    'Go: url.UserPassword',
    'https://me:Sup3r%2FS3cret+pass%22word%5Cx&%3C%C3%A9%3E~%202026@h',
    'https://me:***@h',
  ],
  ['Go: base64.RawStdEncoding', 'dTpTdXAzci9TM2NyZXQrcGFzcyJ3b3JkXHgmPMOpPn4gMjAyNg', 'dT***'],
  ['Go: base64.RawURLEncoding', 'dXM6U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5-IDIwMjY', 'dXM6***'],
  ['Node: JSON.stringify', JSON.stringify({ pw: SECRET }), '{"pw":"***"}'],
  ['Node: encodeURI', encodeURI(SECRET), '***'],
  ['Node: URLSearchParams', new URLSearchParams({ pw: SECRET, a: 'b c' }).toString(), 'pw=***&a=b+c'],
  [
    'Node: the password of a URL',
    Object.assign(new URL('https://me@h/'), { password: SECRET }).href,
    'https://me:***@h/',
  ],
  ['Node: base64url', Buffer.from(`me:${SECRET}`).toString('base64url'), 'bWU6***'],
  [
    'curl: -u',
    '> Authorization: Basic bWU6U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5+IDIwMjY=',
    '> Authorization: Basic bWU6***',
  ],
  ['curl: --data-urlencode', 'pw=Sup3r%2FS3cret%2Bpass%22word%5Cx%26%3C%C3%A9%3E~+2026', 'pw=***'],
  [
    'curl: a URL in JSON of Go',
    String.raw`{"url":"https://h/?a=1\u0026pw=Sup3r%2fS3cret%2bpass%22word%5cx%26%3c%c3%a9%3e~%202026"}`,
    String.raw`{"url":"https://h/?a=1\u0026pw=***"}`,
  ],
  [
    'JSON in a parameter of a URL',
    encodeURIComponent(JSON.stringify({ pw: SECRET })),
    '%7B%22pw%22%3A%22***%22%7D',
  ],
  [
    'a URL in a parameter of a URL',
    encodeURIComponent(`db://${encodeURIComponent(SECRET)}@h`),
    'db%3A%2F%2F***%40h',
  ],
  [
    'base64 in JSON that escapes slashes',
    String.raw`{"auth":"bWU6U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5\u002bIDIwMjY\u003d"}`,
    '{"auth":"bWU6***"}',
  ],
  [
    'base64 in a URL',
    'https://h/?auth=bWU6U3VwM3IvUzNjcmV0K3Bhc3Mid29yZFx4JjzDqT5%2BIDIwMjY%3D',
    'https://h/?auth=bWU6***',
  ],
])('a secret is hidden as it is written by %s', (_program, text, expected) => {
  expect(redactorOf(SECRET).text(text)).toBe(expected);
});

/** How a program writes a whole text. */
type Encoding = (text: string) => string;

const asciiOnly = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const inJson: Encoding = (text) => JSON.stringify(text).slice(1, -1);
const inAsciiJson: Encoding = (text) => JSON.stringify(text).slice(1, -1).split('').map(asciiOnly).join('');
const inGoJson: Encoding = (text) =>
  inJson(text).replaceAll(/[&<>]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
const inUrl: Encoding = (text) => encodeURIComponent(text);
const inForm: Encoding = (text) => new URLSearchParams({ '': text }).toString().slice(1);
const inLowerCase: Encoding = (text) =>
  encodeURIComponent(text).replaceAll(/%../g, (encoded) => encoded.toLowerCase());
const everyOther: Encoding = (text) =>
  Array.from(text, (character, index) =>
    index % 2 === 0 || '%+'.includes(character) ? inBytes(character) : character,
  ).join('');
const inBytes: Encoding = (text) =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const ENCODINGS: readonly Encoding[] = [
  (text) => text,
  inJson,
  inAsciiJson,
  inGoJson,
  inUrl,
  inForm,
  inLowerCase,
  everyOther,
  inBytes,
  (text) => inJson(inJson(text)),
  (text) => inGoJson(inAsciiJson(text)),
  (text) => inGoJson(inUrl(text)),
  (text) => inUrl(inAsciiJson(text)),
  (text) => inUrl(inUrl(text)),
];
const anySecret = string({
  unit: constantFrom(
    'p',
    'Q',
    '"',
    "'",
    '\\',
    '/',
    '&',
    '<',
    '>',
    'é',
    '€',
    '🙂',
    '%',
    '+',
    ' ',
    '=',
    '\n',
    '\t',
    'n',
    'u',
  ),
  minLength: 4,
  maxLength: 24,
  size: 'max',
})
  .map((text) => `s${text}s`)
  // Lines of a secret are hidden one by one.
  .filter((text) => !/[^\n]{8,}\n|\n[^\n]{8,}/.test(text));
/** None of the characters of secrets that are all of a secret. */
const anySurroundings = string({
  unit: constantFrom('A', 'b', '7', '.', '-', '_', '"', '&', 'é', '€'),
  maxLength: 12,
});

test('a secret appears in no spelling and no surroundings, and these stay', () => {
  assert(
    property(
      array(anySecret, { minLength: 1, maxLength: 4 }),
      tuple(anySurroundings, anySurroundings),
      constantFrom(...ENCODINGS),
      (secrets, [before, behind], encoding) => {
        const [secret = ''] = secrets;
        expect(redactorOf(...secrets).text(encoding(before) + encoding(secret) + encoding(behind))).toBe(
          `${encoding(before)}***${encoding(behind)}`,
        );
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a secret does not appear in base64 of any text around it', () => {
  assert(
    property(
      tuple(anySecret, anySurroundings, anySurroundings),
      constantFrom('base64', 'base64url'),
      ([secret, before, behind], alphabet) => {
        const bytes = Buffer.from(before + secret + behind);
        const masked = redactorOf(secret).text(bytes.toString(alphabet));
        expect(masked.match(/\*\*\*/g)).toHaveLength(1);
        const [start = '', end = ''] = masked.split('***');
        // Characters that have bits of both are hidden.
        const from = Math.floor((Buffer.byteLength(before) * 8) / 6);
        const to = Math.ceil((Buffer.byteLength(before + secret) * 8) / 6);
        const encoded = bytes.toString(alphabet);
        expect([start, end]).toEqual([encoded.slice(0, from), behind === '' ? '' : encoded.slice(to)]);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a text without a secret stays as it is', () => {
  assert(
    property(
      array(anySecret, { minLength: 1, maxLength: 4 }),
      array(
        tuple(
          anySurroundings,
          constantFrom(...ENCODINGS, (text: string) => Buffer.from(text).toString('base64')),
        ),
      ),
      (secrets, pieces) => {
        const text = pieces.map(([piece, encoding]) => encoding(piece)).join(' ');
        expect(redactorOf(...secrets).text(text)).toBe(text);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('base64 that differs from that of a secret in the bits at its ends is no secret', () => {
  const redactor = redactorOf('hunter22');
  for (const before of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${before}hunter22 b`).toString('base64');
    expect(redactor.text(encoded)).not.toBe(encoded);
    // Their last four, last two, first two and first four bits are others.
    for (const other of ['hunter27', 'hunter23', '(unter22', 'xunter22']) {
      const text = Buffer.from(`${before}${other} b`).toString('base64');
      expect(redactor.text(text)).toBe(text);
    }
  }
});

test.each([
  ['hexadecimal', Buffer.from('hunter22').toString('hex')],
  ['HTML entities', '&#104;unter22'],
  ['octal escapes', String.raw`\150unter22`],
  ['base64 within base64', Buffer.from(Buffer.from('hunter22').toString('base64')).toString('base64')],
  ['a text in two lines', 'hunt\ner22'],
  [
    'JSON in JSON in JSON',
    JSON.stringify(JSON.stringify(JSON.stringify(String.raw`hunter22`).replace('h', '\\u0068'))),
  ],
])('what the pages say that is not found, is not: %s', (_what, text) => {
  expect(redactorOf('hunter22').text(text)).toBe(text);
});
