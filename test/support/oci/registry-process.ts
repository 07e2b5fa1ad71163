import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { freePorts } from '../control-plane/free-ports.ts';
import { GuardedProcess } from '../control-plane/guarded-process.ts';
import { ProcessGuard } from '../control-plane/process-guard.ts';
import { findOciProgram, type OciProgram } from './oci-programs.ts';

const POLL_MS = 20;

export interface RegistryProcess {
  /** `localhost:PORT`. */
  readonly host: string;
  /** Ends the process; what it stored is gone. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a registry on loopback and waits until it responds.
 *
 * @param argumentsFor writes its files to the directory, and returns its arguments
 */
export async function startRegistry(
  program: OciProgram,
  argumentsFor: (host: string, directory: string) => Promise<readonly string[]>,
  {
    port,
    isReady = responds,
  }: { readonly port?: number | undefined; readonly isReady?: (host: string) => Promise<boolean> },
  signal: AbortSignal,
): Promise<RegistryProcess> {
  const onProgress = (message: string): void => console.warn(`registries: ${message}`);
  const file = await findOciProgram(program, { env: process.env, onProgress }, signal);
  const host = `localhost:${port ?? (await freePorts(1))[0]}`;
  const directory = await mkdtemp(join(tmpdir(), 'registry-'));
  const guard = ProcessGuard.start(directory);
  const stop = async (): Promise<void> => await guard.close();
  try {
    const args = await argumentsFor(host, directory);
    const logFile = join(directory, 'log');
    const server = await GuardedProcess.start({ name: program, file, args, cwd: directory, logFile, guard });
    while (!(await isReady(host))) {
      if (!server.isRunning) throw new Error(`The registry exited: ${server.logTail}`);
      await systemClock.sleep(POLL_MS, signal);
    }
    return { host, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Without an account a registry may respond with 401. */
async function responds(host: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${host}/v2/`);
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    return false;
  }
}

/** Nothing about its certificate is known here. */
export async function isListening(host: string): Promise<boolean> {
  const socket = connect(Number(host.split(':')[1]), 'localhost');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
