import { execa } from 'execa';
import { findOciProgram } from './oci-programs.ts';

export interface ClientOptions {
  readonly cwd?: string;
  /** Directory of docker's config.json. Default: an empty account. */
  readonly dockerConfig?: string;
}

/** Runs crane, an independent client, and returns its stdout. It speaks http with localhost by itself. */
export async function crane(
  args: readonly string[],
  signal: AbortSignal,
  options: ClientOptions = {},
): Promise<string> {
  return await run('crane', args, signal, options);
}

/** Runs oras, an independent client, and returns its stdout. It speaks http with localhost by itself. */
export async function oras(
  args: readonly string[],
  signal: AbortSignal,
  options: ClientOptions = {},
): Promise<string> {
  return await run('oras', args, signal, options);
}

async function run(
  program: 'crane' | 'oras',
  args: readonly string[],
  signal: AbortSignal,
  { cwd, dockerConfig = '/nonexistent' }: ClientOptions,
): Promise<string> {
  const onProgress = (message: string): void => console.warn(`registries: ${message}`);
  const file = await findOciProgram(program, { env: process.env, onProgress }, signal);
  const { stdout } = await execa(file, args, {
    ...(cwd !== undefined && { cwd }),
    env: { DOCKER_CONFIG: dockerConfig },
    stdin: 'ignore',
    cancelSignal: signal,
  });
  return stdout;
}
