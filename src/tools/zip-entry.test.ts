import { expect, test } from 'vitest';
import { zipArchive } from '../../test/support/archives.ts';
import { zipEntry } from './zip-entry.ts';

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

test('zipEntry() answers undefined for a file that is not there', async () => {
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
