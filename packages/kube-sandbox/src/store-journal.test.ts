import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ResourceObject } from './resource-object.ts';
import { silentLog } from './sandbox-log.ts';
import { ObjectStore } from './sandbox-store.ts';
import { type Journal, openJournal } from './store-journal.ts';

let directory = '';
let file = '';
let journal: Journal | undefined;

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'journal-')), 'deep', 'state');
  file = join(directory, 'state.jsonl');
});

afterEach(() => {
  journal?.close();
  journal = undefined;
  rmSync(join(directory, '..', '..'), { recursive: true, force: true });
});

/** The store as a start of the sandbox would find it. */
function open(): ObjectStore {
  journal?.close();
  journal = openJournal(directory, silentLog);
  return new ObjectStore(journal.state, journal);
}

function configMap(name: string, text = ''): ResourceObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { text } };
}

function names(store: ObjectStore): readonly string[] {
  return [...store.list('/configmaps')].map(({ metadata }) => metadata.name);
}

test('objects, removals and the revision are there after a restart', () => {
  const store = open();
  store.write('/configmaps', '/a', configMap('a'));
  store.write('/configmaps', '/b', configMap('b', 'one'));
  store.write('/configmaps', '/b', configMap('b', 'two'));
  store.remove('/configmaps', '/a');

  const reopened = open();

  expect(names(reopened)).toEqual(['b']);
  expect(reopened.get('/configmaps', '/b')).toMatchObject({
    data: { text: 'two' },
    metadata: { resourceVersion: '3' },
  });
  expect(reopened.revision).toBe(4);
  expect(reopened.compactedRevision).toBe(4);
});

test('an empty directory starts an empty store', () => {
  expect(open().revision).toBe(0);
  expect(open().revision).toBe(0);
});

test('a change is in the file when the write returns', () => {
  open().write('/configmaps', '/a', configMap('a'));
  expect(readFileSync(file, 'utf8')).toContain('"name":"a"');
});

test('a line that was cut short is dropped, and does not harm what follows', () => {
  open().write('/configmaps', '/a', configMap('a'));
  journal?.close();
  journal = undefined;
  appendFileSync(file, '{"rv":2,"storage":"/configmaps","key":"/b","obj');

  open().write('/configmaps', '/c', configMap('c'));

  expect(names(open())).toEqual(['a', 'c']);
});

test('a broken line in the middle is an error that names file and line', () => {
  open().write('/configmaps', '/a', configMap('a'));
  journal?.close();
  journal = undefined;
  appendFileSync(file, 'rubbish\n');
  expect(() => openJournal(directory, silentLog)).toThrow(
    /state\.jsonl: line \d+ is broken\. Delete the file/,
  );
});

test('a directory that cannot be made is an error', () => {
  const blocker = join(mkdtempSync(join(tmpdir(), 'journal-')), 'file');
  writeFileSync(blocker, '');
  expect(() => openJournal(join(blocker, 'state'), silentLog)).toThrow('Cannot keep the sandbox state');
});

test('the file does not grow for ever', () => {
  const store = open();
  const text = 'x'.repeat(100_000);
  for (let count = 0; count < 200; count += 1) store.write('/configmaps', '/a', configMap('a', text));
  expect(statSync(file).size).toBeLessThan(6_000_000);
  expect(existsSync(`${file}.new`)).toBe(false);
  expect(open().revision).toBe(200);
});

test('what was left of an interrupted rewriting is ignored', () => {
  open().write('/configmaps', '/a', configMap('a'));
  writeFileSync(`${file}.new`, '{"rv":9');
  expect(names(open())).toEqual(['a']);
});

test('exact numbers survive', () => {
  const store = open();
  store.write('/x/things', '/a', { ...configMap('a'), kind: 'Thing' });
  journal?.close();
  journal = undefined;
  const text = readFileSync(file, 'utf8').replace('"data":{"text":""}', '"spec":12345678901234567890');
  writeFileSync(file, text);
  open();
  expect(readFileSync(file, 'utf8')).toContain('"spec":12345678901234567890');
});
