import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import type { GoProgram } from '../control-plane/go-programs.ts';
import { ensureBuilt, type FindOptions } from '../control-plane/programs.ts';

const REGISTRY_MODULE = join(import.meta.dirname, 'go');
const linkerFlags = ['-s', '-w'];

/** Built in this order, the one that most tests need first. */
const PROGRAMS = {
  faultRegistry: {
    name: 'fault-registry',
    version: ownVersion(),
    moduleDir: REGISTRY_MODULE,
    packagePath: '.',
    buildSeconds: 20,
  },
  crane: {
    name: 'crane',
    version: '0.22.1',
    moduleDir: REGISTRY_MODULE,
    packagePath: 'github.com/google/go-containerregistry/cmd/crane',
    buildSeconds: 35,
  },
  oras: {
    name: 'oras',
    version: '1.3.6',
    moduleDir: join(import.meta.dirname, 'go-oras'),
    packagePath: 'oras.land/oras/cmd/oras',
    buildSeconds: 20,
  },
  distribution: {
    name: 'distribution',
    version: '3.1.2',
    moduleDir: join(import.meta.dirname, 'go-distribution'),
    packagePath: 'github.com/distribution/distribution/v3/cmd/registry',
    buildSeconds: 210,
  },
} as const satisfies Readonly<Record<string, Omit<GoProgram, 'linkerFlags'> & { readonly version: string }>>;

export type OciProgram = keyof typeof PROGRAMS;

/** Path of a registry or of a client of registries: cached, else built from its Go module. Throws when that does not work. */
export async function findOciProgram(
  program: OciProgram,
  options: FindOptions,
  signal: AbortSignal,
): Promise<string> {
  const { version, ...built } = PROGRAMS[program];
  const target = join(cacheDirectory(options.env, homedir()), `${built.name}-${version}`, built.name);
  await ensureBuilt({ ...built, linkerFlags }, target, options, signal);
  return target;
}

export async function findOciPrograms(options: FindOptions, signal: AbortSignal): Promise<void> {
  for (const program of Object.keys(PROGRAMS) as OciProgram[]) await findOciProgram(program, options, signal);
}

/** Why there are no registries for tests here, or undefined. */
export async function reasonAgainstRegistries(env: FindOptions['env']): Promise<string | undefined> {
  const onProgress = (message: string): void => console.warn(`registries: ${message}`);
  try {
    await findOciPrograms({ env, onProgress }, new AbortController().signal);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Sources of our own have no version, and a changed one is another program. */
function ownVersion(): string {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.sum']) hash.update(readFileSync(join(REGISTRY_MODULE, file)));
  return hash.digest('hex').slice(0, 12);
}
