import { fileURLToPath } from 'node:url';

// Replaces `own-code.ts` in tests (see `vitest.config.ts`): they run from sources, and what they start as processes and
// threads of their own runs from `dist/`, which `build-program.ts` has built. From sources each would start five times as long.

export const OWN_CODE = new URL('../../dist/', import.meta.url);

export const IS_BUILT = true;

export const BUILT_CODE = fileURLToPath(OWN_CODE);

export const COMPILE_CACHE = fileURLToPath(new URL('.compile-cache', OWN_CODE));

export function ownProgram(name: string): URL {
  return new URL(`${name}.js`, OWN_CODE);
}
