import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileFacts } from './lint-facts.ts';

/** Belongs to tools, and can have any number of files. */
const SKIPPED = new Set(['.git', 'node_modules', 'venv']);
const MAX_TEXT_BYTES = 1024 * 1024;
const EXEC_BITS = 0o111;

/** All entries below the directory of a module, sorted by path. What cannot be read is left out: the operator reports it. */
export function readModuleFiles(directory: string): readonly FileFacts[] {
  return [...walk(directory, '')].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function* walk(root: string, below: string): Generator<FileFacts> {
  for (const name of namesIn(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined || SKIPPED.has(name)) continue;
    const common = {
      path,
      isExecutable: stats.isFile() && (stats.mode & EXEC_BITS) !== 0,
      sizeBytes: stats.size,
    };
    if (stats.isDirectory()) {
      yield { ...common, type: 'directory' };
      yield* walk(root, path);
    } else if (stats.isSymbolicLink()) yield { ...common, type: 'link' };
    else if (stats.isFile()) yield { ...common, type: 'file', ...textOf(join(root, path), stats.size) };
  }
}

/** None for a directory that cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(path: string, sizeBytes: number): { readonly text?: string } {
  if (sizeBytes > MAX_TEXT_BYTES) return {};
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)) };
  } catch {
    return {};
  }
}
