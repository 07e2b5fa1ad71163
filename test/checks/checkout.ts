import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '../..');

/** A checkout with the real bin/ and the installed dependencies, whose src/ is one small main file. The caller removes it. */
export function smallCheckout(mainSource: string): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'checkout-')));
  for (const name of ['bin', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json']) {
    cpSync(join(projectRoot, name), join(root, name), { recursive: true });
  }
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/main.ts'), mainSource);
  mkdirSync(join(root, 'node_modules'));
  for (const name of ['.bin', 'typescript', '@typescript', '@types', 'undici-types']) {
    symlinkSync(join(projectRoot, 'node_modules', name), join(root, 'node_modules', name));
  }
  const lockHash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  writeFileSync(join(root, 'node_modules/.lock-hash'), lockHash);
  return root;
}
