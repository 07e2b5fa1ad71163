import { chmod, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';

const PROGRAM = /^[\w][\w.+-]*$/;

/**
 * Writes programs that a hook finds in place of those of the machine.
 *
 * @param stubs by name: path of a file relative to `testDirectory`, or the text of a shell script
 * @param into an empty directory
 * @param path `PATH` of the hook without them
 * @returns `PATH` with them
 * @throws OperatorError CONFIG_INVALID for a name with a slash, and for a file that does not exist
 */
export async function writeStubs(
  stubs: Readonly<Record<string, string>>,
  testDirectory: string,
  into: string,
  path: string,
): Promise<string> {
  await mkdir(into, { recursive: true });
  for (const [name, given] of Object.entries(stubs)) {
    if (!PROGRAM.test(name))
      throw new OperatorError(
        'CONFIG_INVALID',
        `stub: '${name}' is not the name of a program, such as openssl`,
      );
    const program = join(into, name);
    const source = resolve(testDirectory, given);
    if (await isFile(source)) await copyFile(source, program);
    else if (isPath(given))
      throw new OperatorError('CONFIG_INVALID', `stub: ${name}: there is no file ${source}`);
    else await writeFile(program, given.startsWith('#!') ? given : `#!/bin/sh\n${given}\n`);
    await chmod(program, 0o755);
  }
  return path === '' ? into : `${into}${delimiter}${path}`;
}

/** A script is not a single word with a slash or an ending. */
function isPath(text: string): boolean {
  return !/\s/.test(text) && (text.includes('/') || /\.\w+$/.test(text));
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // Also for a text that cannot be a path.
    return false;
  }
}
