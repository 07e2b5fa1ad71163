import { array, assert, constantFrom, integer, property, record, subarray } from 'fast-check';
import { expect, test } from 'vitest';
import {
  entriesAmong,
  type FileRecord,
  type FileSet,
  LASTING_MS,
  lostEntries,
  nextRecord,
} from './file-set.ts';

/** Content by path; each decisive entry has at least one file. */
type Files = Readonly<Record<string, string>>;

const COMPLETE: Files = {
  'values.yaml': 'own',
  'Chart.yaml': 'chart',
  'templates/a.yaml': 'a',
  'templates/b.yaml': 'b',
  'hooks/h.sh': 'hook',
  'module.yaml': 'manifest',
};
const DECISIVE = ['values.yaml', 'Chart.yaml', 'templates'] as const;

const topOf = (path: string): string => path.split('/')[0] ?? '';

function fileSet(files: Files): FileSet {
  const paths = Object.keys(files);
  return { entries: entriesAmong(paths.map(topOf)), digests: paths.map((path) => `${path}:${files[path]}`) };
}

const only = (files: Files, isLeft: (path: string) => boolean): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => isLeft(path)));

/** A module runs while no decisive entry is lost; otherwise it is held. */
function run(known: FileRecord, files: Files, nowMs: number): FileRecord {
  const now = fileSet(files);
  return lostEntries(known, now).length > 0 ? known : nextRecord(known, now, nowMs);
}

const anyPart = subarray(Object.keys(COMPLETE)).map((paths) =>
  only(COMPLETE, (path) => paths.includes(path)),
);
const anyRepair = array(record({ files: anyPart, afterMs: integer({ min: 0, max: LASTING_MS / 10 - 1 }) }), {
  maxLength: 10,
});

test('an entry that is lost is noticed, however its files came back and whatever of them has run', () => {
  assert(
    property(anyRepair, constantFrom(...DECISIVE), (steps, entry) => {
      let nowMs = LASTING_MS;
      let known = nextRecord(undefined, fileSet(COMPLETE), 0);
      for (const { files, afterMs } of steps) {
        nowMs += afterMs;
        known = run(known, files, nowMs);
      }
      const lost = only(COMPLETE, (path) => topOf(path) !== entry);
      expect(lostEntries(known, fileSet(lost))).toContain(entry);
    }),
  );
});

test('a version with a new content holds nothing, whatever has run before', () => {
  assert(
    property(anyRepair, subarray([...DECISIVE]), (steps, removed) => {
      let known = nextRecord(undefined, fileSet(COMPLETE), 0);
      for (const { files, afterMs } of steps) known = run(known, files, LASTING_MS + afterMs);
      const left = only(COMPLETE, (path) => !removed.some((entry) => entry === topOf(path)));
      expect(lostEntries(known, fileSet({ ...left, 'hooks/h.sh': 'of another version' }))).toEqual([]);
    }),
  );
});

test('the files before the last ones are compared until the last ones have lasted', () => {
  const [old, next] = [fileSet(COMPLETE), fileSet({ ...COMPLETE, 'hooks/h.sh': 'edited' })];
  const lost = fileSet(only(COMPLETE, (path) => path !== 'values.yaml'));
  const edited = nextRecord(nextRecord(undefined, old, 0), next, LASTING_MS);
  expect(lostEntries(edited, lost)).toEqual(['values.yaml']);
  const early = nextRecord(edited, next, 2 * LASTING_MS - 1);
  expect(early).toBe(edited);
  const lasting = nextRecord(early, next, 2 * LASTING_MS);
  expect(lostEntries(lasting, lost)).toEqual([]);
  expect(nextRecord(lasting, next, 3 * LASTING_MS)).toBe(lasting);
});

test('a wall clock that was set back only keeps the files before for longer', () => {
  const next = fileSet({ ...COMPLETE, 'hooks/h.sh': 'edited' });
  const edited = nextRecord(nextRecord(undefined, fileSet(COMPLETE), LASTING_MS), next, 2 * LASTING_MS);
  expect(nextRecord(edited, next, 0)).toBe(edited);
});
