import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';

/**
 * A digest of what an image is built from: names, modes, sizes and times of the files that `.dockerignore` lets in, and of the
 * Dockerfile. It is there to save a build, so that a file which was only written again counts as changed.
 *
 * @param root of the checkout
 * @param labels what else is in the image
 */
export async function digestOfImageSources(root: string, labels: readonly string[]): Promise<string> {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '');
  const included = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const excluded = lines.filter((line) => !line.startsWith('!') && line !== '*');
  const files = (await Promise.all(included.map((path) => filesBelow(root, path)))).flat();
  const digest = createHash('sha256').update(JSON.stringify(labels));
  for (const path of ['Dockerfile', ...files].toSorted()) {
    if (excluded.some((pattern) => matchesGlob(path, pattern))) continue;
    const { mode, size, mtimeMs } = await stat(join(root, path));
    digest.update(`${path} ${mode} ${size} ${mtimeMs}\n`);
  }
  return digest.digest('hex');
}

async function filesBelow(root: string, path: string): Promise<readonly string[]> {
  if (!(await stat(join(root, path))).isDirectory()) return [path];
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
