import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { splitAddress } from '../../devkit/hook-place.ts';
import { readTestFile } from '../../tools/hook-test/hook-test.ts';
import { hookPathOf } from './hook-test-files.ts';

/** An editor writes a file in several steps. */
const QUIET_MS = 100;
/** Not changed by authors. */
const IGNORED = new Set(['node_modules', '__snapshots__']);

/** Directories in which a change of a file can change the results of tests: those of the tests, and of what they test. */
export async function watchedDirectories(testFiles: readonly string[]): Promise<readonly string[]> {
  const directories = new Set<string>();
  for (const file of testFiles) {
    const own = dirname(file);
    directories.add(own);
    // The module around it has values, schemas and CRDs.
    directories.add(basename(own) === 'tests' ? dirname(own) : own);
    try {
      const { file: test } = readTestFile(file, await readFile(file, 'utf8'));
      directories.add(dirname(splitAddress(hookPathOf(file, test.hook)).file));
    } catch {
      // Its mistakes are reported when it is run.
    }
  }
  return [...directories];
}

/** Counts changes, so that one that comes while tests run is not missed. */
class Changes {
  #count = 0;
  #wake: (() => void) | undefined;

  get count(): number {
    return this.#count;
  }

  note(): void {
    this.#count += 1;
    this.#wake?.();
  }

  /** Resolves when there is a change after the first `seen` ones. */
  async after(seen: number): Promise<void> {
    if (this.#count !== seen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}

/** Calls `run`, and again after each change in the directories, until the signal aborts. */
export async function repeatOnChange(
  directories: readonly string[],
  run: () => Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { watch } = await import('chokidar');
  const roots = new Set(directories);
  const files = watch([...directories], {
    ignoreInitial: true,
    ignored: (path) => !roots.has(path) && (basename(path).startsWith('.') || IGNORED.has(basename(path))),
  });
  const changes = new Changes();
  const note = (): void => changes.note();
  files.on('all', note);
  signal.addEventListener('abort', note);
  try {
    await new Promise<void>((resolve) => void files.once('ready', resolve));
    while (!signal.aborted) {
      const seen = changes.count;
      await run();
      await changes.after(seen);
      for (let before = -1; before !== changes.count && !signal.aborted; ) {
        before = changes.count;
        await clock.sleep(QUIET_MS, signal).catch(() => undefined);
      }
    }
  } finally {
    signal.removeEventListener('abort', note);
    await files.close();
  }
}
