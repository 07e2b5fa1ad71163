import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@addon-operator/base/log';
import { parseJson } from '@addon-operator/json';
import { findExecutable } from '@addon-operator/process/executable-file';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownProgram } from '../../../../test/support/built-code.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { jqForTests } from '../../../../test/support/jq/jq-program.ts';
import type { JqEngine } from './jq-engine.ts';
import { parseJqVersion, selectJqEngine } from './select-jq-engine.ts';

/** The tests run it from `dist/`, where it starts faster than from its sources. */
const builtinProgram = fileURLToPath(ownProgram('jq-builtin-main'));
const never = new AbortController().signal;
const clock = new FakeClock();
const pinnedJq = await jqForTests();
const pathVariable = process.env['PATH'] ?? '';

const systemJq = findExecutable('jq', pathVariable);

const pod = {
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    labels: { tier: 'front', app: 'web' },
    annotations: { 'example.org/weight': '12', note: 'Zoë said "hi"\nthere' },
  },
  spec: {
    replicas: 2,
    hostNetwork: false,
    containers: [
      { name: 'main', image: 'nginx:1.27', ports: [{ containerPort: 80 }] },
      { name: 'side', image: 'envoy:3', env: null },
    ],
  },
  data: { password: 'Z3LDvMOfZQ==' },
};

/** Programs that both engines must agree on, with the outputs of jq. */
const PROGRAMS: readonly [program: string, outputs: readonly unknown[]][] = [
  ['.metadata.labels', [{ app: 'web', tier: 'front' }]],
  ['.metadata.name, .kind', ['web-1', 'Pod']],
  ['empty', []],
  ['.missing', [null]],
  ['.missing["a.b/c"]', [null]],
  ['.missing.deeper[0]?', [null]],
  ['.metadata.annotations["example.org/weight"]|tonumber', [12]],
  ['.metadata.annotations.note', ['Zoë said "hi"\nthere']],
  ['{name: .metadata.name, kind}', [{ kind: 'Pod', name: 'web-1' }]],
  ['.metadata|{name,labels}|.labels.app', ['web']],
  ['[.spec.containers[]|select(.ports)|.name]', [['main']]],
  ['.spec.containers|map(.image|split(":")[0])|join(",")', ['nginx,envoy']],
  ['.spec.containers|length', [2]],
  ['.metadata.labels|to_entries|map("\\(.key)=\\(.value)")|join(";")', ['app=web;tier=front']],
  ['[.metadata.labels[]]', [['web', 'front']]],
  ['.spec.replicas // 1', [2]],
  ['.spec.hostNetwork // "off"', ['off']],
  ['if .spec.replicas > 1 then "many" else "one" end', ['many']],
  ['.metadata.name|test("^web-[0-9]+$")', [true]],
  ['.metadata.name|sub("-.*"; "")', ['web']],
  ['del(.metadata, .spec, .data)', [{ kind: 'Pod' }]],
  ['.spec.containers[1].env', [null]],
  ['[.spec.containers[].env?]', [[null, null]]],
  ['[.kind[]?]', [[]]],
  ['.data.password|@base64d', ['grüße']],
  ['.data|with_entries(.value |= @base64d)', [{ password: 'grüße' }]],
  ['"it\'s"|@sh', ["'it'\\''s'"]],
  ['"<&>"|@html', ['&lt;&amp;&gt;']],
  ['reduce .spec.containers[].name as $n (""; . + $n)', ['mainside']],
  ['def double: . * 2; .spec.replicas|double', [4]],
  ['def f($x; g): $x + g; f(1; 2)', [3]],
  ['.spec.replicas as $n | [range($n)]', [[0, 1]]],
  ['[paths]|length', [25]],
  ['any(.spec.containers[]; .name == "side")', [true]],
  ['.metadata.labels|has("app")', [true]],
  ['$ENV', [{}]],
  ['.__proto__, .constructor', [null, null]],
  ['{"__proto__": 1}|keys', [['__proto__']]],
  ['.kind # a comment at the end', ['Pod']],
  ['.kind # a comment that wants to go on \\', ['Pod']],
  ['-1', [-1]],
  ['.missing // "default"', ['default']],
  ['.missing.deeper // []', [[]]],
  ['keys', [['data', 'kind', 'metadata', 'spec']]],
  ['.spec.containers|keys', [[0, 1]]],
  ['.spec.containers[1:]|map(.name)', [['side']]],
  ['.kind[1:], .kind[:1]', ['od', 'P']],
  ['.spec.containers|del(.[0])|length', [1]],
  ['.spec.containers|map_values(select(.ports))|length', [1]],
  [
    '.spec.containers[0].ports[0].containerPort |= . + 1 | .spec.containers[0].ports',
    [[{ containerPort: 81 }]],
  ],
  ['.metadata.owner.name = "x" | .metadata.owner', [{ name: 'x' }]],
  ['[{"name": "a", "value": false}]|from_entries', [{ a: false }]],
  ['[.kind|scan("o.")]', [['od']]],
  ['"🙂ü"|length, explode', [2, [128_578, 252]]],
];

describe.each([
  ['of PATH', systemJq],
  ['built in', 'builtin'],
  ['1.8.2', pinnedJq],
])('jq %s', (_, jqPath) => {
  const isMissing = jqPath === undefined;
  let engine: JqEngine;

  beforeAll(async () => {
    if (jqPath === undefined) return;
    engine = await selectJqEngine({ jqPath, pathVariable, builtinProgram, log: silentLogger, clock }, never);
  });
  afterAll(() => engine?.stop());

  test.skipIf(isMissing).each(PROGRAMS)('apply() of %s gives %j', async (program, outputs) => {
    const filter = await engine.compile(program, never);
    expect(await filter.apply(pod, never)).toEqual(outputs);
  });

  test.skipIf(isMissing).each([
    ['.a[', /.+/],
    ['nonsense', /nonsense\/0 is not defined/],
    ['.a | $nothing', /nothing is not defined/],
    ['1] | [2', /.+/],
    ['1) | (2', /.+/],
    ['input', /: input is not allowed in filters$/],
    ['.a | import', /import is not allowed/],
  ])('compile() refuses %j', async (program, reason) => {
    await expect(engine.compile(program, never)).rejects.toMatchObject({
      code: 'JQ_COMPILE',
      message: expect.stringMatching(reason),
    });
  });

  test.skipIf(isMissing)(
    'apply() fails with the message of jq, and works again for the next object',
    async () => {
      const filter = await engine.compile('.a.b', never);
      await expect(filter.apply({ a: 'text' }, never)).rejects.toMatchObject({
        code: 'JQ_RUNTIME',
        message: expect.stringMatching(
          /^Cannot apply the jq filter "\.a\.b": Cannot index string with string [("]+b/,
        ),
      });
      expect(await filter.apply({ a: { b: 1 } }, never)).toEqual([1]);
    },
  );

  test.skipIf(isMissing)('apply() runs many calls at once, each with its own result', async () => {
    const [half, twice] = await Promise.all([
      engine.compile('.n / 2', never),
      engine.compile('.n * 2', never),
    ]);
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const responses = await Promise.all(
      numbers.map((n) => Promise.all([half.apply({ n }, never), twice.apply({ n }, never)])),
    );
    expect(responses).toEqual(numbers.map((n) => [[n / 2], [n * 2]]));
  });

  test.skipIf(isMissing)(
    'apply() fails for an object after 2.2 s and goes on with those behind it',
    async () => {
      const filter = await engine.compile('if .loop then last(range(1000000000000)) else .n end', never);
      expect(await filter.apply({ n: 0 }, never)).toEqual([0]);
      const stuck = filter.apply({ loop: true }, never).catch((error: unknown) => error);
      const behind = filter.apply({ n: 1 }, never);
      await clock.untilAsleep();
      await clock.advance(2_199);
      expect(clock.pendingDelaysMs).toEqual([1]);
      await clock.advance(1);
      expect(await stuck).toMatchObject({ code: 'JQ_TIMEOUT', message: expect.stringContaining('2200 ms') });
      expect(await behind).toEqual([1]);
      expect(clock.pendingDelaysMs).toEqual([]);
    },
  );

  // The built-in jq has such cases of its own, which need no process of another program.
  test.skipIf(isMissing).each(jqPath === 'builtin' ? [] : ['[range(1e9)]', 'def f: f; f', 'repeat(.)'])(
    'apply() stops %s after 2.2 s, and works again for the next object',
    async (endless) => {
      const filter = await engine.compile(`if .loop then (${endless}) else .n end`, never);
      expect(await filter.apply({ n: 0 }, never)).toEqual([0]);
      const failure = filter.apply({ loop: true }, never).catch((error: unknown) => error);
      await clock.untilAsleep();
      await clock.advance(2_200);
      expect(await failure).toMatchObject({ code: 'JQ_TIMEOUT' });
      expect(await filter.apply({ n: 1 }, never)).toEqual([1]);
    },
  );

  test.skipIf(isMissing)('apply() runs other filters while a regular expression backtracks', async () => {
    const [stuck, other] = await Promise.all([
      engine.compile(`.text | test("^((a|a|a)(a|a|a))*$")`, never),
      engine.compile('.text | test("^a+b$")', never),
    ]);
    const input = { text: `${'a'.repeat(61)}b` };
    const isLimited = jqPath !== 'builtin';
    const failure = stuck.apply(input, never).catch((error: unknown) => error);
    const behind = other.apply(input, never);
    await clock.untilAsleep();
    if (!isLimited) await clock.advance(2_200);
    expect(await behind).toEqual([true]);
    // jq itself gives up after ten million steps.
    if (isLimited) await clock.advance(2_200);
    expect(await failure).toMatchObject({ code: expect.stringMatching(/^JQ_(?:TIMEOUT|RUNTIME)$/) });
  });

  test.skipIf(isMissing)(
    'apply() survives a filter that eats all memory',
    async () => {
      // Doubled until nothing holds it: text grows fastest in jq, but is shared in the built-in engine.
      const seed = jqPath !== 'builtin' ? '"text"' : '[1, 2, 3]';
      const program = `if .eat then reduce range(40) as $i (${seed}; . + .) else .n end`;
      const filter = await engine.compile(program, never);
      const eater = filter.apply({ eat: true }, never).catch((error: unknown) => error);
      const behind = filter.apply({ n: 2 }, never);
      expect(await eater).toMatchObject({ code: 'JQ_RUNTIME' });
      expect(await behind).toEqual([2]);
    },
    30_000,
  );

  test.skipIf(isMissing)('apply() rejects with the reason of the signal', async () => {
    const filter = await engine.compile('if .loop then last(range(1000000000000)) else .n end', never);
    const abort = new AbortController();
    const waiting = filter.apply({ loop: true }, abort.signal);
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(filter.apply({ n: 1 }, abort.signal)).rejects.toBe(reason);
    const next = filter.apply({ n: 1 }, never);
    await clock.advance(2_200);
    expect(await next).toEqual([1]);
  });

  test.skipIf(isMissing)('stop() ends open calls and refuses new ones', async () => {
    const other = await selectJqEngine(
      { jqPath: jqPath ?? 'auto', pathVariable, builtinProgram, log: silentLogger, clock },
      never,
    );
    const filter = await other.compile('last(range(1000000000000))', never);
    const open = filter.apply({}, never).catch((error: unknown) => error);
    await other.stop();
    expect(await open).toMatchObject({ code: 'ABORTED' });
    await expect(filter.apply({}, never)).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

test.each([
  ['@nothing', /@nothing is not a valid format/],
  ['1 +', /unexpected end/],
  ['. as [$a] | $b', /\$b is not defined/],
])('the built-in engine refuses %j', async (program, reason) => {
  const engine = await selectJqEngine(
    { jqPath: 'builtin', pathVariable, builtinProgram, log: silentLogger, clock },
    never,
  );
  await expect(engine.compile(program, never)).rejects.toMatchObject({
    code: 'JQ_COMPILE',
    message: expect.stringMatching(reason),
  });
  await engine.stop();
});

test.each([
  ['[range(1e9)]', /array of more than 1000000 items/],
  ['def f: f; f', /nested too deep/],
  ['repeat(.)', /more than 1000000 outputs/],
  ['repeat("x" * 1e5)', /larger than/],
  ['[limit(4000; repeat("x" * 1e6 + tojson))]|add', /too large|did not respond/],
])('the built-in engine gives %s up and says why', async (program, reason) => {
  const engine = await selectJqEngine(
    { jqPath: 'builtin', pathVariable, builtinProgram, log: silentLogger, clock },
    never,
  );
  const filter = await engine.compile(program, never);
  await expect(filter.apply({ a: 1 }, never)).rejects.toMatchObject({
    code: 'JQ_RUNTIME',
    message: expect.stringMatching(reason),
  });
  await engine.stop();
});

test('the built-in engine keeps the functions of one program from another', async () => {
  const engine = await selectJqEngine(
    { jqPath: 'builtin', pathVariable, builtinProgram, log: silentLogger, clock },
    never,
  );
  const selfish = await engine.compile('def select(f): 42; select(.a)', never);
  const plain = await engine.compile('[.[] | select(. > 1)]', never);
  expect(await selfish.apply({ a: 1 }, never)).toEqual([42]);
  expect(await plain.apply({ a: 1, b: 2 }, never)).toEqual([[2]]);
  await engine.stop();
});

test('the built-in engine keeps integers beyond 2^53', async () => {
  const engine = await selectJqEngine(
    { jqPath: 'builtin', pathVariable, builtinProgram, log: silentLogger, clock },
    never,
  );
  const filter = await engine.compile('.n, (.n | tostring)', never);
  const outputs = await filter.apply(parseJson('{"n": 9007199254740993}'), never);
  expect(JSON.stringify(outputs)).toBe('[9007199254740993,"9007199254740993"]');
  await engine.stop();
});

describe.skipIf(systemJq === undefined)('the jq binary', () => {
  let engine: JqEngine;

  beforeAll(async () => {
    engine = await selectJqEngine(
      { jqPath: systemJq ?? '', pathVariable, builtinProgram, log: silentLogger, clock },
      never,
    );
  });
  afterAll(() => engine.stop());

  test('serves more filters than it keeps processes', async () => {
    const filters = await Promise.all(
      Array.from({ length: 20 }, (_, index) => engine.compile(`.n + ${index}`, never)),
    );
    for (const round of [1, 2]) {
      const outputs = await Promise.all(filters.map((filter) => filter.apply({ n: round }, never)));
      expect(outputs).toEqual(filters.map((_, index) => [round + index]));
    }
  });

  test('gives what `error` was given', async () => {
    const filter = await engine.compile('error({reason: .n})', never);
    await expect(filter.apply({ n: 1 }, never)).rejects.toMatchObject({
      message: expect.stringContaining('{"reason":1}'),
    });
  });

  test('keeps exact integers where jq does', async () => {
    const filter = await engine.compile('.n', never);
    const [output] = await filter.apply(parseJson('{"n": 9007199254740993}'), never);
    const isExact = parseJqVersion(engine.name.replace(' ', '-')).order >= 1_007;
    expect(JSON.stringify(output)).toBe(isExact ? '9007199254740993' : '9007199254740992');
  });
});

test('selectJqEngine() takes the built-in engine when there is no fit jq in PATH', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'select-jq-'));
  const selection = { jqPath: 'auto', pathVariable: directory, builtinProgram, log: silentLogger, clock };
  try {
    expect((await selectJqEngine(selection, never)).name).toBe('built-in');
    const file = path.join(directory, 'jq');
    writeFileSync(file, '#!/bin/sh\necho jq-1.5\n');
    chmodSync(file, 0o755);
    expect((await selectJqEngine(selection, never)).name).toBe('built-in');
    await expect(selectJqEngine({ ...selection, jqPath: file }, never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('it is jq 1.5, older than 1.6'),
    });
    await expect(selectJqEngine({ ...selection, jqPath: '/no/jq' }, never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.each([
  ['1.6', 'built-in', 'jq 1.6'],
  ['1.7', 'jq 1.7', 'jq 1.7'],
  ['1.7.1-apple', 'jq 1.7.1-apple', 'jq 1.7.1-apple'],
  ['1.10', 'jq 1.10', 'jq 1.10'],
])(
  'selectJqEngine() with jq %s in PATH takes %s for auto, and %s when it is named',
  async (version, auto, named) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'select-jq-'));
    const file = path.join(directory, 'jq');
    writeFileSync(file, `#!/bin/sh\necho jq-${version}\n`, { mode: 0o755 });
    const selection = { pathVariable: directory, builtinProgram, log: silentLogger, clock };
    try {
      expect((await selectJqEngine({ ...selection, jqPath: 'auto' }, never)).name).toBe(auto);
      expect((await selectJqEngine({ ...selection, jqPath: file }, never)).name).toBe(named);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test.each([
  ['jq-1.6\n', { text: '1.6', order: 1_006 }],
  ['jq-1.7.1-apple\n', { text: '1.7.1-apple', order: 1_007 }],
  ['jq-1.10', { text: '1.10', order: 1_010 }],
  ['jq-2.0rc1', { text: '2.0rc1', order: 2_000 }],
])('parseJqVersion() reads %j', (output, version) => {
  expect(parseJqVersion(output)).toEqual(version);
});

test.each(['jq-1.5', 'gojq 0.12.16', ''])('parseJqVersion() refuses %j', (output) => {
  expect(() => parseJqVersion(output)).toThrow(/it is|its version/);
});
