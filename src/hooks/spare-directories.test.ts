import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRunFiles, type RunFiles, sweepRunFiles } from './run-files.ts';
import { SpareDirectories } from './spare-directories.ts';

const FIRST = { bindingContext: '[{"binding":"first"}]', values: '{"a":1}', configValues: '{"a":2}' };
const SECOND = { bindingContext: '[]', values: '{}', configValues: '{}' };

let tmp = '';
let spares: SpareDirectories;

beforeEach(() => {
  tmp = mkdtempSync(join(tmpdir(), 'spare-directories-'));
  spares = new SpareDirectories(tmp);
});

afterEach(() => {
  rmSync(tmp, { recursive: true });
});

const inputOf = (files: RunFiles): string => files.env['VALUES_PATH'] ?? '';
const outputOf = (files: RunFiles): string => files.env['METRICS_PATH'] ?? '';
const directoryOf = (files: RunFiles): string => dirname(outputOf(files));

/** Ends a run that went well but for outputs that cannot be read. */
function finish(files: RunFiles): void {
  try {
    files.readOutputs(() => undefined);
  } catch {
    // Its directory is to be as good as any other.
  }
  files.recycle();
}

/** A run whose hook does something to its files, and the one behind it. */
function twoRuns(act: (files: RunFiles) => void): { isSpared: boolean; second: RunFiles } {
  const first = createRunFiles(tmp, 'first', FIRST, spares);
  act(first);
  finish(first);
  expect(readdirSync(tmp).filter((name) => name.startsWith('run-'))).toEqual([]);
  const isSpared = readdirSync(tmp).some((name) => name.startsWith('spare-'));
  return { isSpared, second: createRunFiles(tmp, 'second', SECOND, spares) };
}

/** The content of a directory that was never used. */
function expectAsNew(files: RunFiles): void {
  const fresh = createRunFiles(tmp, 'fresh', SECOND);
  const facts = ({ env }: RunFiles) =>
    Object.entries(env)
      .map(
        ([variable, path]) =>
          `${variable} ${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
      )
      .toSorted();
  expect(facts(files)).toEqual(facts(fresh));
  expect(readdirSync(directoryOf(files)).toSorted()).toEqual(readdirSync(directoryOf(fresh)).toSorted());
  expect(statSync(directoryOf(files)).mode & 0o777).toBe(0o700);
  fresh.remove();
}

test('a run gets the empty files of one that wrote nothing, under a name of its own', () => {
  const { isSpared, second } = twoRuns(() => undefined);
  expect(isSpared).toBe(true);
  expect(directoryOf(second)).toContain('-second-');
  expectAsNew(second);
});

test('a run gets its own input only, when the hook before has changed what it was given', () => {
  const { isSpared, second } = twoRuns((files) => writeFileSync(inputOf(files), 'x'.repeat(10_000)));
  expect(isSpared).toBe(true);
  expectAsNew(second);
});

test('nothing of what a hook was given to read is left while no hook runs', () => {
  finish(createRunFiles(tmp, 'first', FIRST, spares));
  const [spare = ''] = readdirSync(tmp);
  expect(spare).toMatch(/^spare-/);
  for (const name of readdirSync(join(tmp, spare))) expect(statSync(join(tmp, spare, name)).size).toBe(0);
});

test.each<readonly [what: string, act: (files: RunFiles) => void]>([
  ['wrote something', (files) => writeFileSync(outputOf(files), '{}')],
  ['removed an output', (files) => rmSync(outputOf(files))],
  ['removed what it was given', (files) => rmSync(inputOf(files))],
  ['removed its directory', (files) => rmSync(directoryOf(files), { recursive: true })],
  ['made an input readable for all', (files) => chmodSync(inputOf(files), 0o644)],
  ['gave an input a second name', (files) => linkSync(inputOf(files), join(tmp, 'kept'))],
  [
    'replaced an input',
    (files) => {
      writeFileSync(join(tmp, 'new'), '{}', { mode: 0o600 });
      renameSync(join(tmp, 'new'), inputOf(files));
    },
  ],
  [
    'put a link in the place of an input',
    (files) => {
      renameSync(inputOf(files), join(tmp, 'kept'));
      symlinkSync(join(tmp, 'kept'), inputOf(files));
    },
  ],
  ['left a file of its own', (files) => writeFileSync(join(directoryOf(files), 'more'), '')],
  ['made an output readable for all', (files) => chmodSync(outputOf(files), 0o644)],
  ['made its directory readable for all', (files) => chmodSync(directoryOf(files), 0o755)],
  ['gave an output a second name', (files) => linkSync(outputOf(files), join(tmp, 'kept'))],
  [
    'put a link in the place of an output',
    (files) => {
      renameSync(outputOf(files), join(tmp, 'kept'));
      symlinkSync(join(tmp, 'kept'), outputOf(files));
    },
  ],
  [
    'put a directory in the place of an output',
    (files) => {
      rmSync(outputOf(files));
      mkdirSync(outputOf(files), { mode: 0o600 });
    },
  ],
  [
    'put a link in the place of its directory',
    (files) => {
      renameSync(directoryOf(files), join(tmp, 'kept'));
      symlinkSync(join(tmp, 'kept'), directoryOf(files));
    },
  ],
])('a run gets a new directory after one whose hook %s', (_what, act) => {
  const { isSpared, second } = twoRuns(act);
  expectAsNew(second);
  expect(isSpared).toBe(false);
});

test('a spare directory that was removed is not missed', () => {
  finish(createRunFiles(tmp, 'first', FIRST, spares));
  for (const name of readdirSync(tmp)) rmSync(join(tmp, name), { recursive: true });
  expect(readdirSync(tmp)).toEqual([]);
  expectAsNew(createRunFiles(tmp, 'second', SECOND, spares));
});

test('a link that stays where an input was is not followed', () => {
  const { second } = twoRuns((files) => {
    writeFileSync(join(tmp, 'kept'), 'kept');
    rmSync(inputOf(files));
    symlinkSync(join(tmp, 'kept'), inputOf(files));
  });
  expectAsNew(second);
  expect(readFileSync(join(tmp, 'kept'), 'utf8')).toBe('kept');
});

test('no more than a given number of directories is kept, and none after the end', () => {
  const few = new SpareDirectories(tmp, 2);
  const runs = Array.from({ length: 3 }, (_, index) => createRunFiles(tmp, `run ${index}`, FIRST, few));
  for (const run of runs) finish(run);
  expect(readdirSync(tmp)).toHaveLength(2);
  few[Symbol.dispose]();
  expect(readdirSync(tmp)).toEqual([]);
});

const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').filter((fd) => readlinkIfOpen(`/proc/self/fd/${fd}`).startsWith(tmp));

function readlinkIfOpen(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // That of the directory that was listed.
    return '';
  }
}

test.skipIf(process.platform !== 'linux')(
  'few files stay open after many runs at once, none after the end',
  () => {
    const runs = Array.from({ length: 20 }, (_, index) => createRunFiles(tmp, `run ${index}`, FIRST, spares));
    expect(openFiles()).toHaveLength(60);
    for (const run of runs) finish(run);
    expect(openFiles()).toHaveLength(48);
    const [failed, good] = Array.from({ length: 2 }, () => createRunFiles(tmp, 'again', SECOND, spares));
    failed?.remove();
    good?.recycle();
    spares[Symbol.dispose]();
    expect(openFiles()).toEqual([]);
  },
);

test('a run gets its own input, when the directory was spare while many others were', () => {
  const runs = Array.from({ length: 20 }, (_, index) => createRunFiles(tmp, `run ${index}`, FIRST, spares));
  for (const run of runs) finish(run);
  for (const _ of runs) {
    const second = createRunFiles(tmp, 'second', SECOND, spares);
    expect(readFileSync(inputOf(second), 'utf8')).toBe(SECOND.values);
    expectAsNew(second);
  }
});

test('a start removes the spare directories of a daemon that was killed', () => {
  mkdirSync(join(tmp, `spare-${2 ** 22 + 1}-x`));
  expect(sweepRunFiles(tmp)).toBe(1);
  expect(readdirSync(tmp)).toEqual([]);
});

test('a directory whose outputs were not read is not kept', () => {
  createRunFiles(tmp, 'first', FIRST, spares).recycle();
  expect(readdirSync(tmp)).toEqual([]);
});
