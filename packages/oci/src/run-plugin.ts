import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import type { RunPlugin } from './credential-plugins.ts';

/** A provider may ask a service of its cloud. */
const LIMIT_MS = 60_000;

/** Runs credential plug-ins as children of this process. Their stderr goes nowhere: it may hold secrets. */
export function pluginRunner(
  clock: SteadyClock,
  env: Readonly<Record<string, string | undefined>>,
): RunPlugin {
  return async (program, args, stdin, signal) => {
    const error = (): OperatorError =>
      new OperatorError(
        'REGISTRY_REFUSED',
        `Cannot get credentials from ${program}: it did not end within ${LIMIT_MS / 1_000} s`,
      );
    return await withDeadline({ clock, limitMs: LIMIT_MS, error }, signal, async (signal) => {
      const child = spawn(program, args, {
        env,
        stdio: ['pipe', 'pipe', 'ignore'],
        signal,
        killSignal: 'SIGKILL',
      });
      const exited = new Promise<number>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve(code ?? -1));
      });
      // A program may end without reading it.
      child.stdin.on('error', () => undefined).end(stdin);
      try {
        const [exitCode, stdout] = await Promise.all([exited, text(child.stdout)]);
        return { exitCode, stdout };
      } catch (cause) {
        signal.throwIfAborted();
        const problem = `Cannot get credentials from ${program}: it cannot be run: ${messageOf(cause)}`;
        throw new OperatorError('REGISTRY_REFUSED', problem, { cause });
      }
    });
  };
}
