import { parseJson } from '@addon-operator/json';
import { Redactor } from '@addon-operator/masking/redactor';
import { array, assert, constantFrom, dictionary, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { type RecordableRun, Recorder } from './recorder.ts';
import type { RecordedOutputs } from './recording.ts';
import { maskedOutput, readOutput, SecretMasks } from './secret-masks.ts';

const SECRET = 'p&ss"wörd<1>';

function masked(text: string, ...secrets: readonly string[]): string {
  const masks = new SecretMasks();
  for (const secret of secrets) masks.add(secret);
  return maskedOutput(text, masks);
}

test.each([
  ['JSON of JavaScript', JSON.stringify([{ value: SECRET }]), '[{"value":"***1"}]'],
  ['JSON of Go', String.raw`[{"value": "p\u0026ss\"wörd\u003c1\u003e"}]`, '[{"value": "***1"}]'],
  ['ASCII-only JSON', String.raw`{"a": "p&ss\"w\u00f6rd<1>"}`, '{"a": "***1"}'],
  [
    'JSON lines, a key among them',
    String.raw`{"a":1}
{"p\u0026ss\"w\u00f6rd<1>":2}
`,
    '{"a":1}\n{"***1":2}\n',
  ],
  [
    'JSON within JSON',
    JSON.stringify({ a: JSON.stringify({ b: SECRET }) }),
    String.raw`{"a":"{\"b\":\"***1\"}"}`,
  ],
  [
    'a string of YAML',
    `object:\n  url: "db://p&ss\\"wörd<1>@h" # as is\n`,
    'object:\n  url: "db://***1@h" # as is\n',
  ],
  ['YAML in quotes', `a: 'x p&ss"wörd<1>'\n---\nb: 1\n`, "a: 'x ***1'\n---\nb: 1\n"],
  ['YAML that a mask would break', `a: p&ss"wörd<1>\n---\nb: 2\n`, '{"a":"***1"}\n{"b":2}\n'],
  ['neither JSON nor YAML', `{"a": [ ${SECRET}`, '{"a": [ ***1'],
  [
    'Basic authentication',
    JSON.stringify({ h: `Basic ${btoa('me:hunter22')}` }),
    `{"h":"Basic ${btoa('me:***2')}"}`,
  ],
])('the secrets in an output are masked, and it can still be read: %s', (_what, text, expected) => {
  expect(masked(text, SECRET, 'hunter22')).toBe(expected);
});

test.each([
  [
    'a number that is a secret',
    '{"pin":123456,"id":12345678901234567890}',
    '{"pin":"***1","id":12345678901234567890}\n',
  ],
  ['a secret with the marks of JSON', '{"a":"b","c":1}', '{"a":"b","c":1}\n'],
  ['a secret that is a word of JSON', '{"a":true,"b":"is true"}', '{"a":true,"b":"is ***3"}\n'],
])('the marks, words and other numbers of an output are kept beside %s', (_what, text, expected) => {
  expect(masked(text, '123456', '":"b', 'true')).toBe(expected);
});

test('an output with any values holds no secret, and is read as the masked values', () => {
  const anySecret = string({
    unit: constantFrom('a', '"', '\\', '&', '<', 'é', '\n', ' ', '1', ':', '{', ',', '*'),
    minLength: 4,
    maxLength: 8,
  }).filter((text) => text.trim().length >= 4);
  const spellings: readonly ((value: unknown) => string)[] = [
    (value) => JSON.stringify(value),
    (value) => JSON.stringify(value, null, 2),
    (value) => JSON.stringify(value).replaceAll('&', String.raw`\u0026`).replaceAll('é', String.raw`\u00e9`),
    (value) => `# YAML\nvalue: ${JSON.stringify(value)}\n`,
  ];
  assert(
    property(
      array(anySecret, { minLength: 1, maxLength: 3 }),
      dictionary(constantFrom('x', 'y', 'z'), constantFrom('plain', 7, null, 0, 1, 2)),
      constantFrom(...spellings),
      (secrets, shape, spelling) => {
        const value = Object.fromEntries(
          Object.entries(shape).map(([key, item]) => [
            key,
            typeof item === 'number' ? (secrets[item] ?? item) : item,
          ]),
        );
        const masks = new SecretMasks();
        for (const secret of secrets) masks.add(secret);
        const text = spelling(value);
        const output = maskedOutput(text, masks);
        expect(readOutput(output)).toEqual(readOutput(text).map((document) => masks.data(document)));
        const values = JSON.stringify(readOutput(output));
        for (const secret of secrets) expect(values).not.toContain(JSON.stringify(secret));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a recording with masked secrets holds none of those known, in contexts, or in Secrets that the hook writes', async () => {
  const redactor = new Redactor();
  redactor.add(SECRET);
  const recorder = new Recorder({ version: '1', clock: new FakeClock(), redactor, keptFailures: 5 });
  const stop = new AbortController();
  const lines: string[] = [];
  const sink = { unsentBytes: 0, write: (line: string) => void lines.push(line) };
  const serving = recorder.serve(sink, { hooks: [], hasSecrets: false }, stop.signal);
  const written = { kind: 'Secret', metadata: { name: 'tls' }, data: { key: btoa('private-key-4711') } };
  const outputs: RecordedOutputs = {
    configValuesPatch: '',
    valuesPatch: String.raw`[{"op":"add","path":"/web/p","value":"p\u0026ss\"w\u00f6rd\u003c1\u003e private-key-4711"}]`,
    metrics: String.raw`{"name":"a","labels":{"l":"seen-in-context"}}`,
    kubernetesPatch: JSON.stringify({ operation: 'Create', object: written }),
    admissionResponse: '',
    conversionResponse: '',
  };
  const contexts = JSON.stringify([
    { binding: 'b', objects: [{ object: { kind: 'Secret', data: { a: btoa('seen-in-context') } } }] },
  ]);
  const given = { hook: 'a', module: 'web', config: {}, env: [], contexts, values: '{}', configValues: '{}' };
  const { onRefused } = await recorder.record(
    given,
    async (): Promise<RecordableRun> => ({ outputs }),
    stop.signal,
  );
  onRefused?.(new Error(String.raw`refused: p\u0026ss\"w\u00f6rd\u003c1\u003e`));
  recorder.sendFailed(sink, []);
  stop.abort();
  await serving;
  const recordings = lines.flatMap(
    (line) => (parseJson(line.trim() || '{}') as { recording?: object }).recording ?? [],
  );
  expect(recordings).toHaveLength(2);
  for (const recording of recordings) {
    expect(JSON.stringify(recording)).not.toMatch(/private-key|seen-in-context|p.{1,6}ss.*rd/);
    expect(recording).toMatchObject({
      outputs: {
        valuesPatch: expect.stringMatching(
          /^\[\{"op":"add","path":"\/web\/p","value":"\*\*\*\d \*\*\*\d"\}\]$/,
        ),
        metrics: expect.stringMatching(/^\{"name":"a","labels":\{"l":"\*\*\*\d"\}\}$/),
      },
    });
  }
  expect(recordings[1]).toMatchObject({ error: expect.stringMatching(/^refused: \*\*\*\d$/) });
});
