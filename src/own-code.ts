import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether it was built: bundled, with the programs that are started on their own beside each other in `dist/`. */
export const IS_BUILT = path.extname(import.meta.url) === '.js';

/**
 * Where our own code lies: `src/` when it runs from sources, `dist/` when it was built. Both are beside `package.json`. The
 * bundler puts this file one directory below `dist/`.
 */
export const OWN_CODE = new URL(IS_BUILT ? '../' : './', import.meta.url);

/** The directory of built code, whose stack traces are shown as those of its sources; undefined when it runs from sources. */
export const BUILT_CODE = IS_BUILT ? fileURLToPath(OWN_CODE) : undefined;

/** Where Node keeps what V8 has compiled of it; undefined when it runs from sources. */
export const COMPILE_CACHE = IS_BUILT ? fileURLToPath(new URL('.compile-cache', OWN_CODE)) : undefined;

/**
 * The file of a program that is started as a process or thread of its own.
 *
 * @param name path of its source below `src/`, without extension, for example `launcher-main`
 */
export function ownProgram(name: string): URL {
  return new URL(`${name}${IS_BUILT ? '.js' : '.ts'}`, OWN_CODE);
}
