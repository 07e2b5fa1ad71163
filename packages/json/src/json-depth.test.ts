import { isDeepStrictEqual } from 'node:util';
import {
  array,
  assert,
  bigInt,
  constantFrom,
  dictionary,
  integer,
  oneof,
  property,
  string,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { pathBeyond } from './depth.ts';
import { canonicalJson, parseJson, parseJsonVerbatim, stringifyJson } from './json.ts';

/** An object of an API server has at most so many levels. */
const SERVER_LEVELS = 10_000;

function nested(levels: number, shape: 'lists' | 'maps' | 'both', inner: string): string {
  const pairs = {
    lists: [['[', ']']],
    maps: [['{"a":', '}']],
    both: [
      ['[', ']'],
      ['{"a":', '}'],
    ],
  }[shape];
  const at = (level: number): readonly string[] => pairs[level % pairs.length] ?? [];
  const levelsOf = Array.from({ length: levels }, (_, level) => at(level));
  return `${levelsOf.map(([open]) => open).join('')}${inner}${levelsOf
    .map(([, close]) => close)
    .reverse()
    .join('')}`;
}

test('any depth and any digits are read and written back unchanged', () => {
  const shape = constantFrom('lists' as const, 'maps' as const, 'both' as const);
  const digits = bigInt({ min: 0n, max: 10n ** 25n });
  assert(
    property(integer({ min: 0, max: SERVER_LEVELS }), shape, digits, (levels, shape, digits) => {
      const text = `{"before":${digits},"deep":${nested(levels, shape, `${digits}`)}}`;
      expect(stringifyJson(parseJson(text)) === text).toBe(true);
      expect(stringifyJson(parseJsonVerbatim(text)) === text).toBe(true);
      expect(canonicalJson(parseJson(text)) === text).toBe(true);
    }),
    {
      numRuns: 25,
      examples: [
        [SERVER_LEVELS, 'maps', 12345678901234567890n],
        [100_000, 'both', 10n ** 20n],
      ],
    },
  );
});

test('parseJson() reads what JSON.parse() reads, but for long integers', () => {
  const json = oneof(
    constantFrom(
      'null',
      'true',
      'false',
      '-0',
      '1.0',
      '1e3',
      '1E400',
      '-12',
      '"\\"[{"',
      '"\\\\"',
      '"\\u005f_proto__"',
      '[]',
      '{}',
    ),
    string().map((text) => JSON.stringify(text)),
  );
  const key = oneof(constantFrom('__proto__', 'constructor', '1', 'a"b\\', 'a\\'), string());
  const document = tuple(array(json, { maxLength: 5 }), dictionary(key, json, { maxKeys: 5 }));
  assert(
    property(document, constantFrom('', ' ', '\n\t'), (parts, space) => {
      const [items, members] = parts;
      const pairs = Object.entries(members).map(
        ([name, value]) => `${JSON.stringify(name)}${space}:${space}${value}`,
      );
      const twice = [...pairs, ...pairs].join(`,${space}`);
      const text = `${space}[${items.join(`${space},`)}${items.length === 0 ? '' : ','}{${twice}${space}},1234567890123456${space}]`;
      const expected: unknown = JSON.parse(text);
      expect(isDeepStrictEqual(parseJson(text), expected)).toBe(true);
      const raw = parseJson(text.replace(/6(\s*\])$/, '63$1')) as readonly unknown[];
      expect(isDeepStrictEqual(raw.slice(0, -1), (expected as readonly unknown[]).slice(0, -1))).toBe(true);
      expect(JSON.stringify(raw.at(-1))).toBe('12345678901234563');
    }),
    { numRuns: 500 },
  );
});

test('a text that is no JSON is a SyntaxError at any depth', () => {
  for (const text of ['', '{', `${'['.repeat(20_000)}1234567890123456789`, '"abc', '[1234567890123456789,]'])
    for (const parse of [parseJson, parseJsonVerbatim]) expect(() => parse(text)).toThrow(SyntaxError);
});

test('stringifyJson() writes below any depth what JSON.stringify() writes', () => {
  const values = [
    [undefined, () => 1, Symbol('a'), Number.NaN, -0, new Date(0), null],
    { a: undefined, b: () => 1, c: [], d: {}, e: { toJSON: () => [1] }, 'ключ"': '\ud800', 1: 2 },
  ];
  for (const value of values) {
    let deep: unknown = value;
    for (let level = 0; level < SERVER_LEVELS; level += 1) deep = [deep];
    expect(stringifyJson(deep)).toBe(nested(SERVER_LEVELS, 'lists', JSON.stringify(value)));
  }
  expect(stringifyJson(undefined)).toBe('null');
});

test('pathBeyond() names the first part that is nested too deep', () => {
  const big = '12345678901234567890';
  const value = parseJson(`{"a":[${big},{"b":{}}],"c":[[[${big}]]],"d":${nested(50_000, 'lists', '')}}`);
  expect(pathBeyond(value, 0)).toEqual([]);
  expect(pathBeyond(value, 1)).toEqual(['a']);
  expect(pathBeyond(value, 2)).toEqual(['a', '1']);
  expect(pathBeyond(value, 3)).toEqual(['a', '1', 'b']);
  expect(pathBeyond(value, 4)).toEqual(['d', '0', '0', '0']);
  expect(pathBeyond(value, 50_000)).toHaveLength(50_000);
  expect(pathBeyond(value, 50_001)).toBeUndefined();
  expect(pathBeyond(parseJson(big), 0)).toBeUndefined();
});
