import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  copiedLabels,
  filesOfRevision,
  isRecorded,
  packSource,
  sourceLabels,
  unpackSource,
} from './release-source.ts';

const SOURCE = { files: 'abc', version: '1.2.3', section: { replicas: 2 } };
const SCHEMAS = { config: 'type: object', values: undefined };

test('a source is read again as it was recorded', () => {
  expect(unpackSource(packSource(SOURCE, SCHEMAS))).toEqual({
    version: '1.2.3',
    section: { replicas: 2 },
    schemas: { config: 'type: object', values: undefined },
  });
});

test('a module without a section is recorded with an empty one', () => {
  expect(unpackSource(packSource({ files: 'abc' }, {}))).toMatchObject({ version: undefined, section: {} });
});

const noise = (bytes: number): string => randomBytes(bytes).toString('hex');

test('of a source that is too large the schemas are left out, then the section', () => {
  const large = packSource(SOURCE, { config: noise(64 * 1024) });
  expect(unpackSource(large)).toEqual({ version: '1.2.3', section: { replicas: 2 }, schemas: undefined });
  const larger = packSource({ ...SOURCE, section: { text: noise(64 * 1024) } }, {});
  expect(unpackSource(larger)).toEqual({ version: '1.2.3', section: undefined, schemas: undefined });
});

test.each([undefined, '', 'no base64 of gzip', Buffer.from('[]').toString('base64')])(
  '%s is no source',
  (text) => {
    expect(unpackSource(text)).toBeUndefined();
  },
);

test('a label counts for its own revision only, and changes with files and section', () => {
  const labels = sourceLabels(3, SOURCE);
  expect(filesOfRevision(labels, 3)).toBe('abc');
  expect(filesOfRevision(labels, 4)).toBeUndefined();
  expect(filesOfRevision({}, 3)).toBeUndefined();
  expect(isRecorded(labels, 3, SOURCE)).toBe(true);
  expect(isRecorded(labels, 3, { ...SOURCE, files: 'def' })).toBe(false);
  expect(isRecorded(labels, 3, { ...SOURCE, section: { replicas: 3 } })).toBe(false);
  const long = sourceLabels(1_000_000, { files: 'f'.repeat(32) });
  expect(Object.values(long)[0]?.length).toBeLessThanOrEqual(63);
  const copied = copiedLabels({ labels, revision: 3 }, 12);
  expect(isRecorded(copied, 12, SOURCE)).toBe(true);
  expect(copiedLabels({ labels, revision: 4 }, 12)).toEqual({});
});
