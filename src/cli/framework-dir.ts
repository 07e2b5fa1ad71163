import { fileURLToPath } from 'node:url';
import { OWN_CODE } from '../lib/own-code.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The variables, with the directory of the shell library for hooks where none is named: in the image it is named. */
export function withFramework(env: Variables): Variables {
  const own = fileURLToPath(new URL('..', OWN_CODE)).replace(/\/$/, '');
  return { ...env, FRAMEWORK_DIR: env['FRAMEWORK_DIR'] || own };
}
