import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '../..');

/** Builds the program that tests start as a process, where its sources are newer. */
export async function setup(): Promise<void> {
  requireInstalled();
  await execa(join(root, 'bin/addon-operator'), ['version']);
}

/** Tests that run `npm start` would install other dependencies while further tests use these. */
function requireInstalled(): void {
  const installed = join(root, 'node_modules/.lock-hash');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(installed) && readFileSync(installed, 'utf8') !== lock)
    throw new Error('node_modules is not what package-lock.json says: run npm ci');
}
