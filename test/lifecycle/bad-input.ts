import type { Backend } from '../support/world.ts';
import { badConfigMapTests } from './bad-config-map.ts';
import { badFilesTests } from './bad-files.ts';
import { badHookRunTests } from './bad-hook-runs.ts';

/** Bad input gets a clear error, and nothing is lost. */
export function badInputTests(backend: () => Backend): void {
  badFilesTests(backend);
  badConfigMapTests(backend);
  badHookRunTests(backend);
}
