import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * The Debian packages of programs that are not in PATH, without repetitions.
 *
 * @param programs names of programs, with the package that brings each
 */
export async function missingPackages(
  programs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const packages = new Set<string>();
  for (const [program, name] of Object.entries(programs)) {
    if (!(await isInPath(program, env['PATH'] ?? ''))) packages.add(name);
  }
  return [...packages];
}

async function isInPath(program: string, path: string): Promise<boolean> {
  for (const directory of path.split(delimiter)) {
    try {
      await access(join(directory, program), constants.X_OK);
      return true;
    } catch {
      // In the next one.
    }
  }
  return false;
}
