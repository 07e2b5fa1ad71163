import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarArchive, zipArchive } from '../../../test/support/archives.ts';
import { tarEntry, zipEntry } from './archive-entry.ts';

const archive = zipArchive(
  { 'helm/helm': 'deflated '.repeat(100), 'kubectl/kubectl': 'stored' },
  'a comment',
);

test('zipEntry() inflates a compressed file', async () => {
  expect((await zipEntry(archive, 'helm/helm'))?.toString()).toBe('deflated '.repeat(100));
});

test('zipEntry() hands out a stored file', async () => {
  expect((await zipEntry(archive, 'kubectl/kubectl'))?.toString()).toBe('stored');
});

test('zipEntry() hands out an empty file', async () => {
  expect((await zipEntry(zipArchive({ empty: '' }), 'empty'))?.toString()).toBe('');
});

test('zipEntry() returns undefined for a file that is not there', async () => {
  expect(await zipEntry(archive, 'helm')).toBeUndefined();
});

test('zipEntry() refuses a file whose content was changed', async () => {
  const changed = Buffer.from(archive);
  changed[archive.indexOf('stored')] = 0x53;
  await expect(zipEntry(changed, 'kubectl/kubectl')).rejects.toThrow('does not match its checksum');
});

test('zipEntry() refuses a compressed stream that is broken', async () => {
  const changed = Buffer.from(archive);
  changed.fill(0xff, 40, 50);
  await expect(zipEntry(changed, 'helm/helm')).rejects.toMatchObject({ code: 'TOOL_UNAVAILABLE' });
});

test.each([0, 21, 60, archive.length - 40])(
  'zipEntry() refuses an archive cut to %i bytes',
  async (length) => {
    await expect(zipEntry(archive.subarray(0, length), 'kubectl/kubectl')).rejects.toMatchObject({
      code: 'TOOL_UNAVAILABLE',
    });
  },
);

test('zipEntry() refuses an encrypted file', async () => {
  const encrypted = zipArchive({ secret: 'x' });
  encrypted.writeUInt16LE(1, encrypted.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 8);
  await expect(zipEntry(encrypted, 'secret')).rejects.toThrow('encrypted');
});

test('tarEntry() finds a file behind others of any size', () => {
  const archive = tarArchive({ empty: '', exact: 'x'.repeat(512), 'a/b.txt': 'hello', last: 'z' });
  expect(tarEntry(archive, 'a/b.txt')?.toString()).toBe('hello');
  expect(tarEntry(archive, 'empty')?.toString()).toBe('');
  expect(tarEntry(archive, 'last')?.toString()).toBe('z');
});

test('tarEntry() joins the prefix of a long name', () => {
  const path = `${'directory/'.repeat(12)}file`;
  expect(tarEntry(tarArchive({ [path]: 'deep' }), path)?.toString()).toBe('deep');
});

test('tarEntry() reads what tar writes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    writeFileSync(join(dir, 'one'), 'from tar');
    const archive = execFileSync('tar', ['-cf', '-', '-C', dir, '.']);
    expect(tarEntry(archive, './one')?.toString()).toBe('from tar');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('tarEntry() returns undefined for a file that is not there', () => {
  expect(tarEntry(tarArchive({ a: '1' }), 'b')).toBeUndefined();
});

test('tarEntry() refuses an archive cut within a file', () => {
  expect(() => tarEntry(tarArchive({ a: 'x'.repeat(600) }).subarray(0, 1000), 'a')).toThrow(
    'it ends within a file',
  );
});

test('tarEntry() refuses an archive without its end mark', () => {
  expect(() => tarEntry(tarArchive({ a: '1' }).subarray(0, 1024), 'b')).toThrow('its end mark is missing');
});

test('tarEntry() refuses a header whose checksum is wrong', () => {
  const archive = tarArchive({ a: '1' });
  archive[0] = 0x62;
  expect(() => tarEntry(archive, 'b')).toThrow('a header checksum is wrong');
});
