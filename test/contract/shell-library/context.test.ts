import { beforeAll, describe, expect, test } from 'vitest';
import { lacksBashOrJq, runBashHook } from './bash-hook.ts';

const CONTEXTS = [
  { binding: 'first' },
  {
    binding: 'second',
    type: 'Event',
    object: {
      metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'shop', 'pod-hash': 'x' } },
      spec: {
        replicas: 3,
        paused: false,
        isReady: true,
        nothing: null,
        ports: [{ port: 80 }, { port: 443 }],
      },
    },
    snapshots: { 'my-pods': [{ filterResult: 'a' }, { filterResult: { 'b.c': 1 } }] },
  },
];

/** Runs one line in the second binding context. */
async function inContext(line: string) {
  const text = `__on_kubernetes::second() {\n${line}\n}\n__main__() { :; }\nhook::run "$@"`;
  return await runBashHook(text, { contexts: CONTEXTS });
}

/** As `inContext`, but many lines in one hook, each in a shell of its own: `EXIT STATUS OUTPUT` of each. */
async function eachInContext(lines: readonly string[]): Promise<readonly string[]> {
  const shells = lines.map(
    (line) => `said=$(${line}) && code=0 || code=$?\nprintf '%s %s\\036' "$code" "$said"`,
  );
  const { stdout } = await inContext(shells.join('\n'));
  return stdout.split('\u001e').slice(0, -1);
}

const GET = [
  ['binding', 'second'],
  ['object.metadata.name', 'web'],
  ['object.metadata.labels."app.kubernetes.io/name"', 'shop'],
  ["object.metadata.labels.'app.kubernetes.io/name'", 'shop'],
  ['object.metadata.labels.pod-hash', 'x'],
  ['snapshots.my-pods.0.filterResult', 'a'],
  ['snapshots.my-pods.1.filterResult."b.c"', '1'],
  ['snapshots["my-pods"][0].filterResult', 'a'],
  ['object.spec.ports.1.port', '443'],
  ['object.spec.ports[0].port', '80'],
  ['object.spec.replicas', '3'],
  ['object.spec.nothing', 'null'],
  ['object.spec.unknown.deeper', 'null'],
] as const;

const CONDITIONS = [
  ['has', 'type', true],
  ['has', 'unknown', false],
  ['has', 'object.spec.nothing', true],
  ['has', 'object.spec.unknown', false],
  ['has', 'object.unknown.deeper', false],
  ['has', 'object.metadata.labels."app.kubernetes.io/name"', true],
  ['has', "object.metadata.labels.'app.kubernetes.io/part'", false],
  ['has', 'object.metadata.labels.pod-hash', true],
  ['has', 'snapshots.my-pods', true],
  ['has', 'snapshots.my-pods.1', true],
  ['has', 'snapshots.my-pods.2', false],
  ['is_true', 'object.spec.isReady', true],
  ['is_true', 'object.spec.paused', false],
  ['is_true', 'object.spec.replicas', false],
  ['is_false', 'object.spec.paused', true],
  ['is_false', 'object.spec.nothing', false],
  ['is_false', 'object.spec.unknown', false],
  ['is_null', 'object.spec.nothing', true],
  ['is_null', 'object.spec.unknown', true],
  ['is_null', 'object.spec.paused', false],
] as const;

describe.skipIf(lacksBashOrJq)('context:: functions of the shell library (need bash and jq)', () => {
  let said: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const lines = [
      ...GET.map(([path]) => `context::get ${shellWord(path)}`),
      ...CONDITIONS.map(([name, path]) => `context::${name} ${shellWord(path)}`),
    ];
    const responses = await eachInContext(lines);
    said = new Map(lines.map((line, index) => [line, responses[index] ?? '']));
  });

  test.each(GET)('context::get %s prints %s', (path, expected) => {
    expect(said.get(`context::get ${shellWord(path)}`)).toBe(`0 ${expected}`);
  });

  test('context::get without a path prints the whole binding context', async () => {
    const { stdout } = await inContext('context::get');
    expect(JSON.parse(stdout)).toEqual(CONTEXTS[1]);
  });

  test('context::get --required prints a value that is there and fails with its path otherwise', async () => {
    expect((await inContext('context::get --required object.spec.nothing')).stdout).toBe('null');
    const missing = await inContext('context::get --required object.spec.unknown\necho after');
    expect([missing.exitCode, missing.stdout]).toEqual([1, '']);
    expect(missing.stderr).toContain("has no 'object.spec.unknown'");
  });

  test.each(CONDITIONS)('context::%s %s is %s', (name, path, isSo) => {
    const [code = ''] = (said.get(`context::${name} ${shellWord(path)}`) ?? '').split(' ');
    expect(Number(code) === 0).toBe(isSo);
  });

  test('context::jq works on the current binding context and takes the flags of jq', async () => {
    const { stdout } = await inContext(
      'context::jq -c --arg n 443 \'.object.spec.ports[] | select("\\(.port)" == $n)\'',
    );
    expect(stdout).toBe('{"port":443}');
    expect((await inContext("context::jq -e '.unknown' >/dev/null || echo none")).stdout).toBe('none');
  });

  test('context::global::jq works on the list of all binding contexts', async () => {
    expect((await inContext("context::global::jq -c 'map(.binding)'")).stdout).toBe('["first","second"]');
  });
});

describe.skipIf(lacksBashOrJq)('functions for other libraries (need bash)', () => {
  test.each([
    ['a.b', '.a.b', 'a', 'b'],
    ['a', '.a', '', 'a'],
    ['', '.', '', ''],
    ['a."b.c".0', '.a."b.c"[0]', 'a."b.c"', '0'],
    ["a.'b.c'", '.a."b.c"', 'a', 'b.c'],
    ['0.a', '.[0].a', '0', 'a'],
    [
      'my-module.internal.address-pool',
      '."my-module".internal."address-pool"',
      'my-module.internal',
      'address-pool',
    ],
  ])('%j is the jq path %s in %j with the key %j', async (path, filter, directory, key) => {
    const names = ['_convert_user_path_to_jq_path', '_dirname', '_basename'];
    const { stdout } = await runBashHook(
      names.map((name) => `echo "[$(context::${name} ${shellWord(path)})]"`).join('\n'),
    );
    expect(stdout.split('\n')).toEqual([`[${filter}]`, `[${directory}]`, `[${key}]`]);
  });
});

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
