import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '../..');

/** The source files below a directory of the checkout, without tests: path relative to the directory → text. */
export function sourcesIn(directory: string): Map<string, string> {
  const root = join(projectRoot, directory);
  return new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  );
}

/** A checkout with the real bin/ and the installed dependencies, whose src/ is one small main file. The caller removes it. */
export function smallCheckout(mainSource: string): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'checkout-')));
  for (const name of ['bin', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json']) {
    cpSync(join(projectRoot, name), join(root, name), { recursive: true });
  }
  mkdirSync(join(root, 'src'));
  mkdirSync(join(root, 'packages'));
  writeFileSync(join(root, 'src/main.ts'), mainSource);
  mkdirSync(join(root, 'node_modules'));
  for (const name of [
    '.bin',
    'typescript',
    '@typescript',
    '@types',
    'undici-types',
    'rolldown',
    '@rolldown',
    '@oxc-project',
  ]) {
    symlinkSync(join(projectRoot, 'node_modules', name), join(root, 'node_modules', name));
  }
  const lockHash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  writeFileSync(join(root, 'node_modules/.lock-hash'), lockHash);
  return root;
}
