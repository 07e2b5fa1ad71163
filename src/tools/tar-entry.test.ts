import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarArchive } from '../../test/support/archives.ts';
import { tarEntry } from './tar-entry.ts';

test('tarEntry() finds a file behind others, whatever their sizes', () => {
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

test('tarEntry() answers undefined for a file that is not there', () => {
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
