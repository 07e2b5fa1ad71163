import { expect, test } from 'vitest';
import type { HookInput } from './hook-input.ts';
import { recordHookRun } from './record-hook-run.ts';

const EMPTY = { bindingContext: '[]', values: '{}', configValues: '{}' };

function record(act: (input: HookInput) => void, texts: Partial<typeof EMPTY> = {}) {
  const lines: string[] = [];
  const run = recordHookRun({ ...EMPTY, ...texts }, (line) => lines.push(line), new AbortController().signal);
  act(run.input);
  return { ...run.outputs(), lines };
}

test('what is recorded is written down at once: later changes of a value do not count', () => {
  const value = { a: 1 };
  const { valuesPatch } = record((input) => {
    input.values.set('web', value);
    value.a = 2;
  });
  expect(valuesPatch).toBe('{"op":"add","path":"/web","value":{"a":1}}');
});

test('numbers beyond 2^53 go through unchanged', () => {
  const text = '{"web":{"big":12345678901234567890}}';
  const { valuesPatch } = record((input) => input.values.set('web.copy', input.values.get('web.big')), {
    values: text,
  });
  expect(valuesPatch).toBe('{"op":"add","path":"/web/copy","value":12345678901234567890}');
});

test('all data are frozen, down to the last list', () => {
  record(
    (input) => {
      expect(Object.isFrozen(input)).toBe(true);
      expect(Object.isFrozen(input.values.get('web.list.0'))).toBe(true);
      expect(() => (input.contexts as unknown[]).push(1)).toThrow(TypeError);
    },
    { values: '{"web":{"list":[{}]}}', bindingContext: '[{}]' },
  );
});

test('absent config values are an empty document', () => {
  record((input) => expect(input.configValues.data).toEqual({}), { configValues: 'null' });
});

test.each([
  ['undefined', undefined],
  ['a function', () => 1],
  ['a big integer', 1n],
])('%s is refused where it is recorded', (_case, value) => {
  expect(() => record((input) => input.values.set('web.a', value))).toThrow(TypeError);
});

test('of several responses the last counts', () => {
  const { admissionResponse, conversionResponse } = record((input) => {
    input.admission.allow();
    input.admission.deny('no', { warnings: ['w'] });
    input.conversion.failed('no');
    input.conversion.converted([{ a: 1 }]);
  });
  expect(JSON.parse(admissionResponse)).toEqual({ allowed: false, message: 'no', warnings: ['w'] });
  expect(JSON.parse(conversionResponse)).toEqual({ convertedObjects: [{ a: 1 }] });
});

test('a log line never fails a run', () => {
  const { lines } = record((input) => input.log.info('ring', { big: 1n }));
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', msg: 'ring' });
});
