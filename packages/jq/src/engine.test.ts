import { expect, test } from 'vitest';
import { askBuiltin } from '../test/ask-jq.ts';
import { readResponses } from '../test/read-responses.ts';
import { Engine } from './engine.ts';
import { LimitError } from './flow.ts';
import { JqSyntaxError } from './lexer.ts';

const ask = askBuiltin();

test.each(readResponses())(
  'the engine evaluates $program as jq 1.8.2 does',
  async ({ program, input, response }) => {
    expect(await ask(program, input)).toBe(response);
  },
);

test.each([
  ['1 +', /unexpected end/],
  ['1 < 2 < 3', /line 1: unexpected "<"/],
  ['.a = 1 = 2', /unexpected "="/],
  ['\n\n{a: }', /line 3: unexpected "}"/],
  ['"\\x"', /invalid escape/],
  ['"abc', /not closed/],
  ['"\\(1"', /not closed/],
  ['nope', /nope\/0 is not defined \(line 1\)/],
  ['map(.; .)', /map\/2 is not defined/],
  ['$x', /\$x is not defined/],
  ['break $x', /\$\*label-x is not defined/],
  ['def f: f(1); f', /f\/1 is not defined/],
  ['reduce . (0; 1)', /expected as/],
  ['if . then 1', /expected end/],
  ['`', /unexpected "`"/],
  ['@nope', /@nope is not a valid format/],
  ['('.repeat(5000), /nested too deep/],
])('compile() says what is wrong with %j', (program, problem) => {
  const compile = () => new Engine(() => 0).compile(program);
  expect(compile).toThrow(JqSyntaxError);
  expect(compile).toThrow(problem);
});

test.each([
  ['[range(1e9)]', /array of more than/],
  ['range(1e9)', /more than 1000000 outputs/],
  ['def f: f; f', /nested too deep/],
  ['def f: [f]; f', /nested too deep/],
  ['reduce range(100000) as $i (1; [.]) | tojson', /nested too deep/],
  ['try [range(1e9)] catch "caught"', /array of more than/],
])('the engine gives %s up, which `try` cannot catch', (program, reason) => {
  const run = new Engine(() => 0).compile(program);
  const outputs = (): unknown => [...run(null)];
  expect(outputs).toThrow(LimitError);
  expect(outputs).toThrow(reason);
});

test('now is the time of the clock that the engine was given', () => {
  const run = new Engine(() => 1_700_000_000_500).compile('now, (now | todate)');
  expect([...run(null)]).toEqual([1_700_000_000.5, '2023-11-14T22:13:20Z']);
});

test('keys like __proto__ are plain data', async () => {
  const input = '{"__proto__": {"a": 1}, "constructor": 2}';
  expect(await ask('.__proto__.a, .constructor, .toString, keys', input)).toBe(
    '[1,2,null,["__proto__","constructor"]]',
  );
  expect(await ask('.__proto__.a = 5 | .__proto__ += {b: 1}', input)).toBe(
    '[{"__proto__":{"a":5,"b":1},"constructor":2}]',
  );
  expect(await ask('{"__proto__": 1} + {a: 2} | del(.a)', 'null')).toBe('[{"__proto__":1}]');
  expect(await ask('[{key: "__proto__", value: 1}] | from_entries', 'null')).toBe('[{"__proto__":1}]');
});

test('a long chain needs no stack', async () => {
  expect(
    await ask('[limit(5; repeat(1))], last(range(100000)), (0 | until(. >= 100000; . + 1))', 'null'),
  ).toBe('[[1,1,1,1,1],99999,100000]');
  expect(await ask('last(1 | recurse(if . < 100000 then . + 1 else empty end))', 'null')).toBe('[100000]');
});

test('a program of its own functions leaves the builtins of others alone', () => {
  const engine = new Engine(() => 0);
  const selfish = engine.compile('def map(f): "mine"; def select(f): 42; map(.), select(.)');
  const plain = engine.compile('with_entries(select(.value > 1))');
  expect([...selfish(null)]).toEqual(['mine', 42]);
  expect([...plain({ a: 1, b: 2 })]).toEqual([{ b: 2 }]);
});
