import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shellWord } from '@addon-operator/strings/shell-word';
import { hookCommand } from '../../hooks/python.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';

/**
 * The same runs, in which a command starts the hooks that are executables, such as one that measures coverage.
 *
 * @param command words of a shell; the path of the hook is appended
 * @param directory empty, for scripts that start the hooks
 */
export function wrappedRuns(runs: HookRuns, command: string, directory: string): HookRuns {
  return {
    run: async (hook, ...given) => {
      if (hook.transport !== 'executable') return await runs.run(hook, ...given);
      const path = join(directory, basename(hook.path));
      const { file, args, env } = hookCommand(hook, []);
      const words = [file, ...args].map(shellWord).join(' ');
      const exports = Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`);
      await writeFile(path, `#!/bin/sh\n${exports.join('')}exec ${command} ${words} "$@"\n`, { mode: 0o700 });
      const { python: _inCommand, batch, ...plain } = hook;
      const wrapped = { ...plain, path };
      if (batch === undefined) return await runs.run(wrapped, ...given);
      // The script is none of the files whose hooks were read, so it has no mark.
      const part = batch.type === 'hook' ? { type: batch.type, index: batch.index } : batch;
      return await runs.run({ ...wrapped, batch: part }, ...given);
    },
  };
}
