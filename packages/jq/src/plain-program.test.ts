import { describe, expect, test } from 'vitest';
import { readResponses } from '../test/read-responses.ts';
import { JqError } from './jq-error.ts';
import { compilePlain } from './plain-program.ts';

const object = {
  kind: 'Pod',
  metadata: { name: 'web', labels: { tier: 'front', app: 'web' } },
  spec: { replicas: 2, hostNetwork: false, containers: [{ name: 'main' }] },
};

test.each<[program: string, outputs: readonly unknown[]]>([
  ['.', [object]],
  ['', [object]],
  ['.metadata.labels', [{ tier: 'front', app: 'web' }]],
  ['.metadata["labels"]."app"', ['web']],
  ['.missing.deeper', [null]],
  ['.toString, .__proto__', [null, null]],
  ['.metadata.name, .kind', ['web', 'Pod']],
  [
    '.metadata | {name, app: .labels.app, "fixed": 1, none: null}',
    [{ name: 'web', app: 'web', fixed: 1, none: null }],
  ],
  ['[.kind, .spec.replicas]', [['Pod', 2]]],
  ['[]', [[]]],
  ['.spec.hostNetwork // "off"', ['off']],
  ['.kind.x // .kind', ['Pod']],
  ['(.spec).replicas # a comment', [2]],
])('compilePlain() selects %s', (program, outputs) => {
  expect(compilePlain(program)?.(object)).toEqual(outputs);
});

test.each([
  '.spec.containers[]',
  '.spec.containers[0]',
  '.metadata.labels?',
  '.metadata | keys',
  'keys',
  '"\\(.kind)"',
  '.a + 1',
  '.[.kind]',
  '{(.kind): 1}',
  '. as $x | $x',
  '$__loc__',
  '-1',
  'empty',
  '1e1000',
  '.a |',
])('compilePlain() leaves %s to an engine', (program) => {
  expect(compilePlain(program)).toBeUndefined();
});

test.each([
  ['is long', `.${'a'.repeat(2_000)}`],
  ['doubles its input often', Array(30).fill('{a: ., b: .}').join(' | ')],
  ['holds its input more than 16 times', `[${Array(17).fill('.').join()}]`],
  ['is nested deep', `${'('.repeat(990)}.${')'.repeat(990)}`],
])('compilePlain() leaves a program to an engine that %s', (_, program) => {
  expect(compilePlain(program)).toBeUndefined();
});

test('a number that JSON.parse would change is passed on as it was written', () => {
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
  const large = rawJSON('12345678901234567890');
  expect(JSON.stringify(compilePlain('{n: .n}')?.({ n: large }))).toBe('[{"n":12345678901234567890}]');
  expect(() => compilePlain('.n.x')?.({ n: large })).toThrow('Cannot index number with string ("x")');
});

describe('what jq 1.8.2 returns', () => {
  const plain = readResponses().flatMap(({ program, input, response }) => {
    const run = compilePlain(program);
    return run === undefined ? [] : [{ program, input, response, run }];
  });

  test('is compared for several programs', () => {
    expect(plain.length).toBeGreaterThan(10);
  });

  test.each(plain)('$program of $input', ({ run, input, response }) => {
    expect(outcome(() => run(JSON.parse(input)))).toEqual(JSON.parse(response));
  });
});

function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof JqError) return { error: error.value };
    throw error;
  }
}
