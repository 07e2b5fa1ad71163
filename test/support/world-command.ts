import { runCli } from '../../src/cli/run-cli.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { World } from './world.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the command line on the directories and the cluster of a world. */
export async function runInWorld(world: World, ...args: readonly string[]): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' };
  const flags = Object.entries(world.flags).map(([name, value]) => `--${name}=${value}`);
  const exitCode = await runCli([...args, ...flags], {
    env: { ...world.hostEnv, ...world.settingsEnv },
    cwd: world.directory,
    clock: systemClock,
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, ...said };
}
