import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { RECORDING_SCHEMA, readRecording } from './recording.ts';

const OUTPUTS = {
  configValuesPatch: '',
  valuesPatch: '',
  metrics: '',
  kubernetesPatch: '',
  admissionResponse: '',
  conversionResponse: '',
};
const RECORDING = {
  version: 1,
  at: '2026-05-01T10:00:00.000Z',
  operator: '0.1.0',
  hook: 'hooks/a.sh',
  module: 'web',
  binding: 'pods',
  config: {},
  contexts: [{ binding: 'pods' }],
  values: {},
  configValues: {},
  env: ['PATH'],
  secrets: 'masked',
  durationMs: 3,
  outputs: OUTPUTS,
};

test('a recording is read, and fits the schema', () => {
  expect(readRecording('a.json', JSON.stringify(RECORDING))).toEqual(RECORDING);
  expect(new Ajv().compile(RECORDING_SCHEMA)(RECORDING)).toBe(true);
  const { outputs: _outputs, ...failed } = { ...RECORDING, error: 'broken', exitCode: 3 };
  expect(readRecording('a.json', JSON.stringify(failed))).toEqual(failed);
});

const text = JSON.stringify(RECORDING);

test.each([
  [text.slice(0, 100), /^a\.json: it is no complete JSON \(.*\): it was cut off or edited; record it again$/],
  ['', /^a\.json: it is no complete JSON/],
  ['[]', /^a\.json: it is no recording: a recording is a JSON object$/],
  ['{}', /^a\.json: it is no recording: version is missing$/],
  [
    JSON.stringify({ ...RECORDING, version: 2 }),
    /^a\.json: it is of version 2, and this addon-operator reads version 1: replay it with the addon-operator that recorded it$/,
  ],
  [
    JSON.stringify({ ...RECORDING, hook: undefined, contexts: {}, secrets: 'no' }),
    /^a\.json: contexts: must be a list, not a mapping; secrets: must be one of masked, included; hook is missing$/,
  ],
  [JSON.stringify({ ...RECORDING, outputs: undefined }), /outputs or error is missing$/],
  [
    JSON.stringify({ ...RECORDING, outputs: {} }),
    /outputs: configValuesPatch is missing; outputs: valuesPatch is missing/,
  ],
  [
    JSON.stringify({ ...RECORDING, outputs: { ...OUTPUTS, metrics: 1 } }),
    /outputs\.metrics: must be a string, not a number$/,
  ],
  [JSON.stringify({ ...RECORDING, output: {} }), /output: unknown key \(did you mean "outputs"\?\)/],
  [JSON.stringify({ ...RECORDING, contexts: [1] }), /contexts\[0\]: must be a mapping, not a number$/],
])('%.60s is refused with its place', (content, message) => {
  expect(() => readRecording('a.json', content)).toThrow(message);
});
