import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasCode } from '@addon-operator/base/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRunFiles, type RunFiles, sweepRunFiles } from './run-files.ts';

const INPUTS = { bindingContext: '[{}]', values: '{"global":{}}', configValues: '{}' };
const OUTPUT_VARIABLES = [
  'CONFIG_VALUES_JSON_PATCH_PATH',
  'CONVERSION_RESPONSE_PATH',
  'KUBERNETES_PATCH_PATH',
  'METRICS_PATH',
  'VALIDATING_RESPONSE_PATH',
  'VALUES_JSON_PATCH_PATH',
];

let tmp: string;

beforeEach(() => {
  tmp = mkdtempSync(join(tmpdir(), 'run-files-'));
});

afterEach(() => {
  rmSync(tmp, { recursive: true });
});

const create = (label = 'web-hooks/a.sh'): RunFiles => createRunFiles(tmp, label, INPUTS);
const pathIn = (files: RunFiles, variable: string): string => files.env[variable] ?? '';
const modeOf = (path: string): number => statSync(path).mode & 0o777;

function problemOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (hasCode(error, 'HOOK_OUTPUT_INVALID')) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** For outputs whose texts are sound. */
const never = (variable: string): void => {
  throw new Error(`${variable} is no UTF-8`);
};

test('createRunFiles() writes the inputs and empty outputs, for the user of the daemon alone', () => {
  const files = create();
  expect(Object.keys(files.env).toSorted()).toEqual([
    'ADMISSION_RESPONSE_PATH',
    'BINDING_CONTEXT_PATH',
    'CONFIG_VALUES_JSON_PATCH_PATH',
    'CONFIG_VALUES_PATH',
    'CONVERSION_RESPONSE_PATH',
    'KUBERNETES_PATCH_PATH',
    'METRICS_PATH',
    'VALIDATING_RESPONSE_PATH',
    'VALUES_JSON_PATCH_PATH',
    'VALUES_PATH',
  ]);
  expect(readFileSync(pathIn(files, 'BINDING_CONTEXT_PATH'), 'utf8')).toBe(INPUTS.bindingContext);
  expect(readFileSync(pathIn(files, 'VALUES_PATH'), 'utf8')).toBe(INPUTS.values);
  expect(readFileSync(pathIn(files, 'CONFIG_VALUES_PATH'), 'utf8')).toBe(INPUTS.configValues);
  for (const path of Object.values(files.env)) expect(modeOf(path)).toBe(0o600);
  expect(pathIn(files, 'ADMISSION_RESPONSE_PATH')).toBe(pathIn(files, 'VALIDATING_RESPONSE_PATH'));
  for (const variable of OUTPUT_VARIABLES) expect(statSync(pathIn(files, variable)).size).toBe(0);
  expect(modeOf(dirname(pathIn(files, 'VALUES_PATH')))).toBe(0o700);
});

test('createRunFiles() makes a directory for every run and names it after the hook', () => {
  create();
  create();
  create('../../etc/x y');
  const names = readdirSync(tmp).toSorted();
  expect(names).toHaveLength(3);
  for (const name of names) expect(name).toMatch(new RegExp(`^run-${process.pid}-[A-Za-z0-9-]+$`));
  expect(names.filter((name) => name.includes('web-hooks-a-sh'))).toHaveLength(2);
});

test('remove() takes everything away, also what the hook made there', () => {
  const files = create();
  writeFileSync(join(dirname(pathIn(files, 'VALUES_PATH')), 'extra'), 'x');
  files.remove();
  files.remove();
  expect(readdirSync(tmp)).toEqual([]);
});

test('createRunFiles() says which directory cannot be written to', () => {
  expect(() => createRunFiles(join(tmp, 'missing'), 'x', INPUTS)).toThrow(
    /Cannot write .*missing.*--tmp-dir/,
  );
});

test('readOutputs() returns what the hook wrote, empty where it wrote nothing', () => {
  const files = create();
  writeFileSync(pathIn(files, 'METRICS_PATH'), '{"a":"ü"}');
  writeFileSync(pathIn(files, 'KUBERNETES_PATCH_PATH'), 'operation: Create');
  expect(files.readOutputs(never)).toEqual({
    configValuesPatch: '',
    valuesPatch: '',
    metrics: '{"a":"ü"}',
    kubernetesPatch: 'operation: Create',
    admissionResponse: '',
    conversionResponse: '',
  });
});

test('readOutputs() skips a byte order mark at the start of every output', () => {
  const files = create();
  for (const variable of OUTPUT_VARIABLES) writeFileSync(pathIn(files, variable), `\u{FEFF}${variable}`);
  expect(new Set(Object.values(files.readOutputs(never)))).toEqual(new Set(OUTPUT_VARIABLES));
});

test.each(OUTPUT_VARIABLES)(
  'readOutputs() refuses a link, a pipe, a directory and nothing as $%s',
  (variable) => {
    const secret = join(tmp, 'secret');
    writeFileSync(secret, '{}');
    const makers: readonly ((path: string) => void)[] = [
      (path) => symlinkSync(secret, path),
      (path) => execFileSync('mkfifo', [path]),
      (path) => mkdirSync(path),
      () => undefined,
    ];
    for (const make of makers) {
      const files = create();
      rmSync(pathIn(files, variable));
      make(pathIn(files, variable));
      expect(problemOf(() => files.readOutputs(never))).toContain(`cannot read the file in $${variable}: `);
    }
  },
);

test('readOutputs() replaces bytes that are no UTF-8 and reports the file', () => {
  const files = create();
  const reported: string[] = [];
  writeFileSync(pathIn(files, 'METRICS_PATH'), Buffer.from([0x22, 0xe4, 0x22]));
  expect(files.readOutputs((variable) => reported.push(variable)).metrics).toBe('"\u{FFFD}"');
  expect(reported).toEqual(['METRICS_PATH']);
});

test('readOutputs() refuses a file that is too large', () => {
  const files = create();
  truncateSync(pathIn(files, 'METRICS_PATH'), 10 * 1024 * 1024 + 1);
  expect(problemOf(() => files.readOutputs(never))).toContain('more than the limit of 10485760');
});

test('sweepRunFiles() removes runs of daemons that are gone, and nothing else', () => {
  const dead = 2 ** 22 + 1;
  const alive = process.ppid;
  const channels = [`addon-operator-${alive}-Ab12Cd`, 'addon-operator-Ab12Cd'];
  for (const name of [
    `run-${dead}-a-1`,
    `run-${alive}-a-1`,
    `run-${process.pid}-a-1`,
    `addon-operator-${dead}-Ab12Cd`,
    ...channels,
    'run-x-a',
    'other',
  ])
    mkdirSync(join(tmp, name));
  writeFileSync(join(tmp, `run-${dead}-a-1`, 'values.json'), '{}');
  writeFileSync(join(tmp, `run-${dead}-file`), '');
  mkdirSync(join(tmp, 'target'));
  symlinkSync(join(tmp, 'target'), join(tmp, `run-${dead}-link`));
  expect(sweepRunFiles(tmp)).toBe(3);
  expect(readdirSync(tmp).toSorted()).toEqual(
    [
      ...channels,
      'other',
      `run-${alive}-a-1`,
      `run-${dead}-file`,
      `run-${dead}-link`,
      'run-x-a',
      'target',
    ].toSorted(),
  );
  expect(existsSync(join(tmp, 'target'))).toBe(true);
});
