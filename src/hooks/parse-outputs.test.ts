import { silentLogger } from '@addon-operator/base/log';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import { describe, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Hook, HookOwner } from './hook.ts';
import { outputSteps, parseOutputs } from './parse-outputs.ts';

const NOTHING: HookOutputContents = {
  configValuesPatch: '',
  valuesPatch: '',
  metrics: '',
  kubernetesPatch: '',
  admissionResponse: '',
  conversionResponse: '',
};

function hook(owner: HookOwner = { type: 'module', module: 'web' as ModuleName }): Hook {
  return { name: 'a.sh', path: '/a.sh', transport: 'executable', owner, config: NO_BINDINGS };
}

const GLOBAL = hook({ type: 'global' });

test('empty files have no effect', () => {
  expect(parseOutputs(NOTHING, hook(), silentLogger)).toEqual({
    patches: { config: [], values: [] },
    flags: [],
    metrics: [],
    objectOperations: [],
  });
});

test('parseOutputs() understands all files of a module hook', () => {
  const operation = { op: 'add', path: '/web/a', value: 1 };
  const parsed = parseOutputs(
    {
      configValuesPatch: JSON.stringify([operation]),
      valuesPatch: JSON.stringify(operation),
      metrics: '{"name":"m","action":"set","value":1}',
      kubernetesPatch: '{"operation":"Delete","kind":"Pod","name":"p","namespace":"n"}',
      admissionResponse: '{"allowed":true}',
      conversionResponse: '{"convertedObjects":[]}',
    },
    hook(),
    silentLogger,
  );
  expect(parsed.patches).toEqual({ config: [operation], values: [operation] });
  expect(parsed.metrics).toMatchObject([{ name: 'm', action: 'set', value: 1 }]);
  expect(parsed.objectOperations).toMatchObject([{ operation: 'Delete', target: { name: 'p' } }]);
  expect(parsed.admission).toEqual({ isAllowed: true, message: '', warnings: [], patch: '' });
  expect(parsed.conversion).toEqual({ type: 'converted', objects: [] });
});

test('a global hook sets flags of modules in either file, beside its values', () => {
  const parsed = parseOutputs(
    {
      ...NOTHING,
      configValuesPatch: '{"op":"add","path":"/webEnabled","value":false}',
      valuesPatch:
        '{"op":"add","path":"/global/q","value":1}[{"op":"add","path":"/dbEnabled","value":"true"},{"op":"remove","path":"/apiEnabled"}]',
    },
    GLOBAL,
    silentLogger,
  );
  expect(parsed.patches).toEqual({ config: [], values: [{ op: 'add', path: '/global/q', value: 1 }] });
  expect(parsed.flags).toHaveLength(3);
});

test('an operation that flags do not know is reported and passed over', () => {
  const captured = new CapturedLog(new FakeClock());
  const valuesPatch = '{"op":"test","path":"/webEnabled","value":true}';
  expect(parseOutputs({ ...NOTHING, valuesPatch }, GLOBAL, captured.logger).flags).toEqual([]);
  expect(captured.records).toMatchObject([
    { level: 'warn', op: 'test', path: '/webEnabled', msg: 'Unknown patch operation' },
  ]);
});

test.each([
  ['valuesPatch', '{"op":"add"', 'json patch for values'],
  ['valuesPatch', '{"op":"replace","path":"/web/a","value":1}', 'json patch for values'],
  ['valuesPatch', '{"op":"add","path":"/global/a","value":1}', 'json patch for values'],
  ['configValuesPatch', 'rubbish', 'json patch for config values'],
  ['metrics', '{"name":', 'metrics'],
  ['metrics', '{"name":"m","action":"observe","value":1}', 'metrics'],
  ['kubernetesPatch', '[{"operation":"Delete"}]', 'kubernetes patch'],
  ['kubernetesPatch', '{"operation":"Destroy"}', 'kubernetes patch'],
  ['admissionResponse', 'x', 'validating response'],
  ['conversionResponse', 'x', 'conversion response'],
] as const)('one broken file spoils all: %s %s', (file, text, what) => {
  const outputs = {
    ...NOTHING,
    metrics: '{"name":"m","action":"set","value":1}',
    [file]: text,
  };
  const parse = () => parseOutputs(outputs, hook(), silentLogger);
  expect(parse).toThrow(
    expect.objectContaining({
      code: 'HOOK_OUTPUT_INVALID',
      message: expect.stringContaining(
        `module hook 'a.sh' wrote bad ${what}, so no output of this run is applied: `,
      ),
    }),
  );
});

test('a metric operation that says two things is left out with a warning', () => {
  const captured = new CapturedLog(new FakeClock());
  const metrics = '{"name":"a","set":1,"add":2}';
  expect(parseOutputs({ ...NOTHING, metrics }, hook(), captured.logger).metrics).toEqual([]);
  expect(captured.records).toMatchObject([{ level: 'warn', msg: 'metric operation is skipped' }]);
});

describe('outputs with very many values', () => {
  const keys = (count: number, separator = ','): string =>
    Array.from({ length: count }, (_, index) => `"k${index}": 1`).join(separator);
  const MANY = 50_001;
  const values = `[{"op":"add","path":"/web/a","value":{${keys(MANY)}}}]`;
  const object = (data: string): string =>
    `{"operation":"Create","object":{"kind":"ConfigMap","metadata":{"name":"a"},"data":${data}}}`;
  const yaml = `operation: Create\nobject:\n  kind: ConfigMap\n  metadata: {name: a}\n  data:\n    ${keys(MANY, '\n    ')}`;

  test.each<[keyof HookOutputContents, string, string]>([
    ['valuesPatch', values, 'it has more than 100000 keys and values'],
    ['configValuesPatch', values, 'it has more than 100000 keys and values'],
    [
      'kubernetesPatch',
      object(`{${keys(MANY)}}`),
      'value 1 at offset 0 has more than 100000 keys and values',
    ],
    ['kubernetesPatch', yaml, 'a document has more than 100000 lines, commas, colons and opening brackets'],
    [
      'metrics',
      '{"name":"m","set":1}'.repeat(75_001),
      'got bad metrics: it has more than 300000 keys and values',
    ],
  ])('P16: %s is refused before it is parsed', (file, text, reason) => {
    expect(() => parseOutputs({ ...NOTHING, [file]: text }, hook(), silentLogger)).toThrow(reason);
  });

  test.each<[keyof HookOutputContents, string]>([
    ['kubernetesPatch', '{"operation":"Delete","kind":"Pod","name":"a"}\n'],
    ['kubernetesPatch', '---\noperation: Delete\nkind: Pod\nname: a\n'],
    ['metrics', '{"name":"m","set":1}\n'],
  ])('P16: %s may have more in many operations, and is read in steps', (file, operation) => {
    const outputs = { ...NOTHING, [file]: operation.repeat(20_000) };
    const steps = outputSteps(outputs, hook(), silentLogger);
    let count = 0;
    for (; steps.next().done !== true; ) count += 1;
    expect(count).toBeGreaterThan(40_000);
  });
});
