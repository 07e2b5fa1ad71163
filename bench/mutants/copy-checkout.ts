import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const OWN_SCOPE = '@addon-operator';

/** Copies what unit tests need into a directory, with links to the installed packages. Of the workspace the copies are used. */
export async function copyCheckout(directory: string): Promise<void> {
  const packages = join(directory, 'node_modules');
  await mkdir(join(packages, OWN_SCOPE), { recursive: true });
  const filter = (source: string): boolean => !source.endsWith('/node_modules');
  for (const part of ['src', 'packages', 'test', 'docs', 'dist', 'bin', 'package.json', 'tsconfig.json'])
    await cp(join(ROOT, part), join(directory, part), { recursive: true, filter });
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== OWN_SCOPE && !name.startsWith('.'))
      await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  for (const name of await readdir(join(directory, 'packages')))
    await symlink(join(directory, 'packages', name), join(packages, OWN_SCOPE, name));
}
