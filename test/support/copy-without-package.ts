import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

const OWN_SCOPE = '@addon-operator';

/**
 * Copies the sources into a directory beside links to all installed packages but one, as if that one were not installed.
 *
 * @param directory must not exist
 * @returns the program and what is before its first argument
 */
export async function copyWithoutPackage(directory: string, missing: string): Promise<readonly string[]> {
  const packages = join(directory, 'node_modules');
  await mkdir(packages, { recursive: true });
  await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
  for (const part of ['src', 'packages'])
    await cp(join(ROOT, part), join(directory, part), {
      recursive: true,
      filter: (source) => !source.endsWith('.test.ts'),
    });
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== missing && name !== OWN_SCOPE && !name.startsWith('.'))
      await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  // Of the workspace the copies are taken: a link to the originals would find the missing package beside them.
  await mkdir(join(packages, OWN_SCOPE));
  for (const name of await readdir(join(directory, 'packages')))
    await symlink(join(directory, 'packages', name), join(packages, OWN_SCOPE, name));
  return [process.execPath, '--no-warnings', join(directory, 'src/main.ts')];
}
