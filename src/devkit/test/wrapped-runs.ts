import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
      const quoted = `'${hook.path.replaceAll("'", String.raw`'\''`)}'`;
      await writeFile(path, `#!/bin/sh\nexec ${command} ${quoted} "$@"\n`, { mode: 0o700 });
      return await runs.run({ ...hook, path }, ...given);
    },
  };
}
