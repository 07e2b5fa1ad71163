import { join } from 'node:path';
import { execa } from 'execa';

/** Builds the program that tests start as a process, where its sources are newer. */
export async function setup(): Promise<void> {
  await execa(join(import.meta.dirname, '../../bin/addon-operator'), ['version']);
}
