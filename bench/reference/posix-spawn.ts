import { performance } from 'node:perf_hooks';
import koffi from 'koffi';

const libc = koffi.load(null);
const posixSpawn = libc.func(
  'int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **env)',
);
const initActions = libc.func('int posix_spawn_file_actions_init(void *actions)');
const addOpen = libc.func(
  'int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)',
);
const waitpid = libc.func('int waitpid(int pid, _Out_ int *status, int options)');

/** More than posix_spawn_file_actions_t needs anywhere. */
const ACTIONS_BYTES = 512;
const O_RDWR = 2;

/** Node lets no process inherit its own stdio, so without these a script would run with none. */
const nullStdio = Buffer.alloc(ACTIONS_BYTES);
initActions(nullStdio);
for (const fd of [0, 1, 2]) addOpen(nullStdio, fd, '/dev/null', O_RDWR, 0);

/** Runs an executable to its end by the cheapest means there is. */
function runOnce(path: string, env: readonly string[], args: readonly string[]): void {
  const pid = [0];
  const argv = [path, ...args, null];
  const failure: number = posixSpawn(pid, path, nullStdio, null, argv, [...env, null]);
  if (failure !== 0) throw new Error(`posix_spawn failed with ${failure}`);
  waitpid(pid[0], [0], 0);
}

/** Durations in milliseconds of `count` runs, one after another, nothing between them. */
export function bareRunsMs(
  path: string,
  env: readonly string[],
  count: number,
  args: readonly string[] = [],
): number[] {
  const durations: number[] = [];
  for (let run = 0; run < count; run += 1) {
    const startMs = performance.now();
    runOnce(path, env, args);
    durations.push(performance.now() - startMs);
  }
  return durations;
}
