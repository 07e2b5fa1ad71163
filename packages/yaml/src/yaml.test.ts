import { canonicalJson, type Json, parseJson, stringifyJson } from '@addon-operator/json';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dumpYaml, parseYaml } from './yaml.ts';
import type { YamlBooleans } from './yaml-scalars.ts';

const parse = (text: string, booleans: YamlBooleans = 'yaml-1.1'): Json =>
  parseYaml(text, { source: 'values.yaml', booleans }).value;

test.each<[string, Json]>([
  ['', null],
  ['# nothing', null],
  ['---\n', null],
  ['a: 1\nb: [x, {c: d}]', { a: 1, b: ['x', { c: 'd' }] }],
  ['a: "1"\nb: \'true\'', { a: '1', b: 'true' }],
  ['a: |\n  two\n  lines\n', { a: 'two\nlines\n' }],
  ['d: 2024-01-02\nt: 2024-01-02T03:04:05Z', { d: '2024-01-02', t: '2024-01-02T03:04:05Z' }],
  ['a: !!str 1\nb: !!int "2"\nc: ! yes', { a: '1', b: 2, c: 'yes' }],
  ['a: &x {k: [1]}\nb: *x', { a: { k: [1] }, b: { k: [1] } }],
  ['{"json": [1.5, null]}', { json: [1.5, null] }],
  ['\u{FEFF}a: 1', { a: 1 }],
  ['\u{FEFF}---\na: \u{FEFF}1', { a: '\u{FEFF}1' }],
  ['\u{FEFF}', null],
])('parseYaml() reads %j', (text, value) => {
  expect(parse(text)).toStrictEqual(value);
});

test('parseYaml() reads brackets and braces at any column, and reports mistakes behind them by their line', () => {
  const text = 'ports: [\n  80\n]\nlabels: {\n"a": "b"\n}\n';
  const options = { source: 'values.yaml', booleans: 'yaml-1.1' } as const;
  expect(parseYaml(text, options).value).toEqual({ ports: [80], labels: { a: 'b' } });
  for (const mistake of ['size: 1e999\n', 'size: 1\n more: 2\n'])
    expect(() => parseYaml(text + mistake, options)).toThrow(/^values\.yaml:[78]: /);
});

test('parseYaml() keeps keys as they are written', () => {
  const text = 'n: 1\nyes: 2\n80: 3\n0777: 4\n1.0: 5\n~: 6\ntrue: 7\n2024-01-02: 8';
  expect(Object.keys(parse(text) as object).toSorted()).toStrictEqual(
    ['n', 'yes', '80', '0777', '1.0', '~', 'true', '2024-01-02'].toSorted(),
  );
});

test.each<[string, Json]>([
  ['base: &b {x: 1, y: 1}\nc:\n  <<: *b\n  y: 2', { x: 1, y: 2 }],
  ['base: &b {x: 1, y: 1}\nc:\n  y: 2\n  <<: *b', { x: 1, y: 2 }],
  ['l: [&a {x: 1}, &b {x: 2, y: 2}]\nc:\n  <<: [*a, *b]', { x: 1, y: 2 }],
  ['c:\n  "<<": {x: 1}', { '<<': { x: 1 } }],
])('parseYaml() merges keys in %j', (text, merged) => {
  expect((parse(text) as Record<string, Json>)['c']).toStrictEqual(merged);
});

test('parseYaml() takes the first document and says that there are more', () => {
  const options = { source: 'values.yaml', booleans: 'yaml-1.1' } as const;
  expect(parseYaml('a: 1\n---\nb: 2', options)).toStrictEqual({ value: { a: 1 }, hasMoreDocuments: true });
  expect(parseYaml('---\na: 1\n', options).hasMoreDocuments).toBe(false);
});

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test.each<[string, string]>([
  ['a: 1\nb: 2\na: 3', 'values.yaml:3: at a: the key is given twice, first in line 1: remove one of the two'],
  [
    'w:\n  p: {x: 1, x: 2}',
    'values.yaml:2: at w.p.x: the key is given twice, first in line 2: remove one of the two',
  ],
  ['w:\n  n: [1, 1e999]', 'values.yaml:2: at w.n[1]: numbers must be finite'],
  ['w: 1e400', 'at w: numbers must be finite'],
  ['w: .inf', 'at w: numbers must be finite'],
  ['w: -.Inf', 'at w: numbers must be finite'],
  ['w: .nan', 'at w: numbers must be finite'],
  ['? [a]\n: b', 'keys must be plain strings'],
  ['{a: b}: c', 'keys must be plain strings'],
  [': b', 'a key is missing'],
  ['a: !!binary aGk=', 'at a: the tag !!binary is not supported here'],
  ['a: !!js/function "x"', 'at a: the tag !!js/function is not supported here'],
  ['a: !!int x', 'at a: the tag !!int is not supported here'],
  ['a: !custom {b: 1}', 'at a: the tag !custom is not supported here'],
  ['\u{FEFF}a: 1\nb: [', 'values.yaml:2: '],
  ['a:\n\tb: 1', 'values.yaml:2: tab characters must not be used in indentation: write spaces'],
  ['a: [1', 'values.yaml:1: '],
  ['a: *x', 'there is no complete anchor "x" above'],
  ['a: &x [*x]', 'there is no complete anchor "x" above'],
  ['<<: 1', 'only maps can be merged'],
  [
    'a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a',
    'values.yaml:4: at b.<<: the key is given twice, first in line 3: remove one of the two',
  ],
  [deep(101), 'nesting exceeded maxDepth'],
  [deep(20_000), 'nesting exceeded maxDepth'],
  [`a: &x ${deep(60)}\nb: ${'['.repeat(60)}*x${']'.repeat(60)}`, 'nested deeper than 100 levels'],
])('parseYaml() refuses %j', (text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test('parseYaml() refuses a text that aliases blow up, at once', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 8; level += 1) {
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  expect(() => parse(lines.join('\n'))).toThrow('too large once aliases are written out');
});

test('parseYaml() refuses more than a thousand aliases, and merges that multiply', () => {
  expect(() => parse(`a: &a x\nb: [${Array(1_001).fill('*a').join(', ')}]`)).toThrow(
    'more than 1000 aliases',
  );
  const keys = Array.from({ length: 200 }, (_, index) => `k${index}: 1`).join(', ');
  const merges = Array.from({ length: 60 }, (_, index) => `m${index}: {<<: *a}`).join('\n');
  expect(() => parse(`a: &a {${keys}}\n${merges}`)).toThrow('more than 10000 merged keys');
});

test('parseYaml() reads many merges of a large map as long as their sum is bounded', () => {
  const merges = Array.from({ length: 40 }, (_, index) => `m${index}: {<<: *a}`).join('\n');
  const keys = Array.from({ length: 100 }, (_, index) => `k${index}: ${'x'.repeat(500)}`).join('\n  ');
  expect(Object.keys(parse(`a: &a\n  ${keys}\n${merges}`) as object)).toHaveLength(41);
});

test('parseYaml() keeps __proto__ as plain data', () => {
  const value = parse('__proto__: {polluted: 1}\nm: &m {__proto__: {x: 1}}\nn: {<<: *m}');
  expect(JSON.stringify(value)).toBe(
    '{"__proto__":{"polluted":1},"m":{"__proto__":{"x":1}},"n":{"__proto__":{"x":1}}}',
  );
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('dumpYaml() sorts keys and indents lists', () => {
  expect(dumpYaml({ b: [1, 'yes'], a: { d: '0777', c: null } }, 4)).toBe(
    "a:\n    c: null\n    d: '0777'\nb:\n    - 1\n    - 'yes'\n",
  );
});

const tricky = fc.constantFrom(
  'yes',
  'n',
  'on',
  '~',
  'null',
  '0777',
  '0o17',
  '1_000',
  '1e3',
  '.5',
  '.inf',
  '12:30:45',
  '2024-01-02',
  '<<',
  '=',
  '',
  ' x ',
  '# c',
  'a: b',
  '- x',
  '\t',
  'a\nb\n',
  '\n',
  '"',
  "'",
  '0x1F',
  '0b1',
  '+1',
  '-0',
  '1.',
  '!t',
  '&a',
  '*a',
  '\u{FEFF}x',
  '\u{85}',
);
const text = fc.oneof(tricky, fc.string({ unit: 'binary' }));
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(0.1, 1e-7, 5e-324),
);
const { values } = fc.letrec<{ values: Json }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('values'), { maxLength: 4 }),
    fc.dictionary(text, tie('values'), { maxKeys: 4 }),
  ),
}));

test('dumpYaml() writes what is nested deeper than any reader allows as JSON, at any depth', () => {
  const nested = (levels: number): Json =>
    parseJson('{"b":'.repeat(levels) + '1' + '}'.repeat(levels)) as Json;
  expect(dumpYaml(nested(100), 2).split('\n')).toHaveLength(101);
  for (const levels of [101, 10_000])
    expect(dumpYaml(nested(levels), 2) === `${stringifyJson(nested(levels))}\n`).toBe(true);
});

test('what dumpYaml() writes means the same to every reader', () => {
  fc.assert(
    fc.property(
      values,
      fc.constantFrom<YamlBooleans>('yaml-1.1', 'yaml-1.2'),
      fc.constantFrom(2, 4),
      (value, booleans, indent) => {
        expect(canonicalJson(parse(dumpYaml(value, indent), booleans))).toBe(canonicalJson(value));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('parseYaml() refuses a text of more than 10 million characters before it reads it', () => {
  expect(() => parseYaml('a'.repeat(10_000_001), { source: 'values.yaml', booleans: 'yaml-1.1' })).toThrow(
    'values.yaml:1: too large: 10000001 characters, at most 10000000 are read; keep large data in files of the chart',
  );
});

test.each([
  ['a list of numbers', '1,'],
  ['a list of empty maps', '{},'],
])('FAULT-D8: parseYaml() refuses %s that would stop the event loop, before it reads it', (_what, item) => {
  const text = `a: [${item.repeat(3_000_000 / item.length)}1]`;
  expect(() => parseYaml(text, { source: 'values.yaml', booleans: 'yaml-1.1' })).toThrow(
    'values.yaml:1: too large: more than 600000 lines, commas, colons and opening brackets; split the file',
  );
});

test('parseYaml() reads a ConfigMap of 1 MiB, whatever it holds, and long texts', () => {
  const options = { source: 'values.yaml', booleans: 'yaml-1.1' } as const;
  expect(parseYaml(`[${'1,'.repeat(524_280)}1]`, options).value).toHaveLength(524_281);
  const text = 'a line of a text of many megabytes\n'.repeat(200_000);
  expect(parseYaml(`a: |\n  ${text.replaceAll('\n', '\n  ')}`, options).hasMoreDocuments).toBe(false);
});

test('integers that a double would change pass through parseYaml() and dumpYaml() unchanged', () => {
  const text = 'ids:\n  - 9007199254740993\n  - -12345678901234567890\nname: "9007199254740993"\n';
  const { value } = parseYaml(text, { source: 'values.yaml', booleans: 'yaml-1.1' });
  expect(JSON.stringify(value)).toBe(
    '{"ids":[9007199254740993,-12345678901234567890],"name":"9007199254740993"}',
  );
  expect(parseYaml(dumpYaml(value, 2), { source: 'again', booleans: 'yaml-1.2' }).value).toEqual(value);
  expect(dumpYaml(value, 2)).toContain('- -12345678901234567890\n');
});
