import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWN_CODE } from '../../own-code.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The variables for hooks outside of the image, where they find what the image has: the directory of the shell library
 * where none is named, and the Node that the operator runs on as `node`. The one of the machine may be older than hooks
 * need, or there is none.
 *
 * @param binDir directory for the link to Node, which is made; nothing else of the directory of that Node gets into `PATH`
 */
export function withHookTools(env: Variables, binDir: string): Variables {
  const own = fileURLToPath(new URL('..', OWN_CODE)).replace(/\/$/, '');
  linkNode(binDir);
  const path = env['PATH'] ?? '';
  return {
    ...env,
    FRAMEWORK_DIR: env['FRAMEWORK_DIR'] || own,
    PATH: path === '' ? binDir : `${binDir}${delimiter}${path}`,
  };
}

/** The link is replaced at once: hooks of another command may be about to use it. */
function linkNode(binDir: string): void {
  mkdirSync(binDir, { recursive: true });
  const draft = join(binDir, `.node-${process.pid}`);
  rmSync(draft, { force: true });
  symlinkSync(process.execPath, draft);
  renameSync(draft, join(binDir, 'node'));
}
