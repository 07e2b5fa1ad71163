import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { digestOfImageSources } from './image-sources.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'image-sources-'));
  await mkdir(join(root, 'src/deep'), { recursive: true });
  await write('.dockerignore', '*\n!package.json\n!src\n**/*.test.ts\n');
  for (const name of [
    'Dockerfile',
    'package.json',
    'src/a.ts',
    'src/deep/b.ts',
    'src/a.test.ts',
    'README.md',
  ])
    await write(name, 'before');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Always at the same time. */
async function write(name: string, content: string): Promise<void> {
  await writeFile(join(root, name), content);
  await utimes(join(root, name), 1, 1);
}

test.each<[string, () => Promise<void>, boolean]>([
  ['nothing', () => Promise.resolve(), false],
  ['the content of a file, with its size', () => write('src/deep/b.ts', 'longer'.repeat(2)), true],
  ['the time of a file', () => utimes(join(root, 'src/a.ts'), 2, 2), true],
  ['the mode of a file', () => chmod(join(root, 'package.json'), 0o755), true],
  ['the Dockerfile', () => write('Dockerfile', 'FROM scratch'), true],
  ['a file more', () => write('src/c.ts', 'new'), true],
  ['a file less', () => rm(join(root, 'src/a.ts')), true],
  ['a test', () => write('src/a.test.ts', 'changed'), false],
  ['a file that .dockerignore keeps out', () => write('README.md', 'changed'), false],
])('the digest of the sources of an image after a change of %s', async (_case, change, isOther) => {
  const before = await digestOfImageSources(root, ['1.0']);
  await change();
  expect((await digestOfImageSources(root, ['1.0'])) !== before).toBe(isOther);
});

test('the digest of the sources of an image depends on what else is in it', async () => {
  expect(await digestOfImageSources(root, ['1.0'])).not.toBe(await digestOfImageSources(root, ['1.1']));
});
