import { expect, test } from 'vitest';
import { readTestFile } from './test-file.ts';

const read = (text: string) => readTestFile('a.hook-test.yaml', text);
const withStep = (step: string): string => `hook: a.sh\ncases:\n- name: one\n  steps:\n  - ${step}\n`;

test('a test file is read', () => {
  const text = `# yaml-language-server: $schema=x
hook: hooks/a.sh
cluster: [fixtures/shop.yaml, {apiVersion: v1, kind: Namespace, metadata: {name: a}}]
values: {web: {issuer: internal}}
now: 2026-05-01T10:00:00Z
env: {REGION: eu}
cases:
- name: one
  steps:
  - start
  - apply: a.yaml
    expect: {runs: 1, contexts: [{binding: a}], objects: [{kind: A, name: b, is: {a: {$any: true}}}]}
  - advance: 1h30m
`;
  expect(read(text).file.cases).toEqual([
    {
      name: 'one',
      steps: [
        'start',
        {
          apply: 'a.yaml',
          expect: {
            runs: 1,
            contexts: [{ binding: 'a' }],
            objects: [{ kind: 'A', name: 'b', is: { a: { $any: true } } }],
          },
        },
        { advance: '1h30m' },
      ],
    },
  ]);
});

test.each([
  [
    'an unknown key',
    `${withStep('start')}hok: b\n`,
    ':6: hok: unknown key (did you mean "hook"?); allowed are hook,',
  ],
  [
    'an unknown step',
    withStep('aply: {}'),
    ':5: cases[0].steps[0].aply: unknown key (did you mean "apply"?)',
  ],
  ['an unknown word', withStep('stop'), ':5: cases[0].steps[0]: must be one of start'],
  ['two actions', withStep('{run: a, tick: b}'), 'cases[0].steps[0]: must have exactly one of start, apply'],
  ['a missing key', 'cases: []\n', ':1: hook is missing'],
  ['no case', 'hook: a\ncases: []\n', ':2: cases: must have at least 1 item'],
  ['a wrong type', 'hook: 1\ncases: {}\n', ':1: hook: must be a string, not a number'],
  ['an empty value', 'hook:\ncases: {}\n', ':1: hook: must be a string, not empty'],
  ['a duration without a unit', withStep('advance: "10"'), 'advance: must be a duration such as 90s or 24h'],
  ['a negative count', withStep('{run: a, expect: {runs: -1}}'), 'expect.runs: must be a whole number'],
  [
    'a bad pattern',
    withStep('{run: a, expect: {values: {a: {$x: 1}}}}'),
    'expect.values.a.$x: unknown condition',
  ],
  ['an anchor', 'hook: &a b\ncases: []\n', ':1: anchors and aliases are not allowed here'],
  ['no YAML', 'hook: [\n', 'a.hook-test.yaml:'],
  ['a key that is given twice', 'hook: a\nhook: b\n', ':2: at hook: the key is given twice'],
  ['a second document', `${withStep('start')}---\na: 1\n`, ':1: there must be one YAML document'],
  [
    'two cases with one name',
    'hook: a\ncases:\n- {name: b, steps: [start]}\n- {name: b, steps: [start]}\n',
    ":4: cases[1].name: another case has the name 'b'",
  ],
  ['an empty text', '', ':1: must be a mapping, not empty'],
])('%s is refused with its place', (_name, text, problem) => {
  expect(() => read(text)).toThrow(problem);
});

test('all mistakes are reported at once', () => {
  expect(() => read('hook: 1\ncases:\n- {name: 2, steps: [{}]}\n')).toThrow(
    /hook: must be a string.*\n.*name: must be a string.*\n.*must have exactly one of/,
  );
});

test('mistakes have the line of their value, however the YAML is written', () => {
  const text =
    'hook: a\ncases:\n- name: >-\n    a\n    b\n  steps:\n  - run: a\n    expect: {\n      runs: x}\n';
  expect(() => read(text)).toThrow('a.hook-test.yaml:9: cases[0].steps[0].expect.runs');
});
