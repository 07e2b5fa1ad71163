import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { tarArchive } from '../../../test/support/archives.ts';
import { TAR_END, tarEntries, withContent } from './tar.ts';

test('tarEntries() gives each entry with its content and its place in the archive', () => {
  const archive = tarArchive({ empty: '', 'a/b.txt': 'hello' });
  const entries = [...tarEntries(archive)];
  expect(entries.map(({ name, content }) => [name, content.toString()])).toEqual([
    ['empty', ''],
    ['a/b.txt', 'hello'],
  ]);
  expect(Buffer.concat([...entries.map(({ whole }) => whole), TAR_END]).equals(archive)).toBe(true);
});

test.each([0, 5, 512, 513])('withContent() gives an entry of %d bytes that is read back', (sizeBytes) => {
  const [entry] = tarEntries(tarArchive({ file: 'before' }));
  if (entry === undefined) throw new Error('the archive has no entry');
  const [changed] = tarEntries(Buffer.concat([withContent(entry, Buffer.alloc(sizeBytes, 'x')), TAR_END]));
  expect(changed).toMatchObject({ name: 'file', isRegularFile: true });
  expect(changed?.content.toString()).toBe('x'.repeat(sizeBytes));
});
