import { systemClock } from '@addon-operator/base/clock';
import { runCli } from '../../src/cli/run-cli.ts';
import type { World } from './world.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the command line on the directories and the cluster of a world. */
export async function runInWorld(
  world: Pick<World, 'flags' | 'settingsEnv' | 'hostEnv' | 'directory'>,
  ...args: readonly string[]
): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' };
  const { 'debug-unix-socket': socket, ...settings } = world.flags;
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const takesSettings = ['doctor', 'plan', 'rbac', 'uninstall'].includes(args[0] ?? '');
  const exitCode = await runCli(takesSettings ? [...args, ...flags] : args, {
    env: { ...world.hostEnv, ...world.settingsEnv, DEBUG_UNIX_SOCKET: socket },
    cwd: world.directory,
    clock: systemClock,
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, ...said };
}
