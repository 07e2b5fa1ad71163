import { messageOf } from '@addon-operator/base/errors';
import type { TestProject } from 'vitest/node';
import { findHelm, HELM_VERSIONS, type HelmVersion } from '../control-plane/programs.ts';
import { reasonAgainstImage } from '../image/reason-against-image.ts';
import { findNodePrograms, type NodePrograms, reasonAgainstNode } from './node-programs.ts';
import { findOperatorImage, isArchiveNamed } from './operator-image.ts';

/** What a worker starts its node from. */
export interface NodeParts {
  readonly programs: NodePrograms;
  /** Paths of the helm executables. */
  readonly helm: Readonly<Record<HelmVersion, string>>;
  /** Path of the operator's image, a docker-archive. */
  readonly operatorImage: string;
}

export type NodeState =
  | { readonly type: 'available'; readonly parts: NodeParts }
  | { readonly type: 'unavailable'; readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    readonly nodeState: NodeState;
  }
}

/** Finds or builds what a node needs, or says to the tests why there is none. */
export async function setup(project: TestProject): Promise<() => void> {
  const stop = new AbortController();
  const onProgress = (message: string): boolean => process.stderr.write(`node: ${message}\n`);
  const unavailable = (reason: string): void => {
    onProgress(`unavailable: ${reason}`);
    project.provide('nodeState', { type: 'unavailable', reason });
  };
  const reason = (await reasonAgainstNode(process.env)) ?? (await reasonAgainstArchive(process.env));
  if (reason === undefined) {
    try {
      const parts = await findNodeParts({ env: process.env, onProgress }, stop.signal);
      project.provide('nodeState', { type: 'available', parts });
    } catch (error) {
      unavailable(messageOf(error));
    }
  } else unavailable(reason);
  return () => stop.abort();
}

/** Why there is no image to run, or undefined. */
async function reasonAgainstArchive(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return isArchiveNamed(env) ? undefined : await reasonAgainstImage(env);
}

/** Throws when something cannot be had; the message says what. */
export async function findNodeParts(
  find: Parameters<typeof findNodePrograms>[0],
  signal: AbortSignal,
): Promise<NodeParts> {
  const programs = await findNodePrograms(find, signal);
  const helm: Partial<Record<HelmVersion, string>> = {};
  for (const version of HELM_VERSIONS) helm[version] = await findHelm(version, find, signal);
  const operatorImage = await findOperatorImage(find, signal);
  return { programs, helm: helm as Record<HelmVersion, string>, operatorImage };
}
