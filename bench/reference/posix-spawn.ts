import { performance } from 'node:perf_hooks';
import koffi from 'koffi';

const libc = koffi.load(null);
const posixSpawn = libc.func(
  'int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **env)',
);
const waitpid = libc.func('int waitpid(int pid, _Out_ int *status, int options)');

/** Runs an executable to its end by the cheapest means there is. */
function runOnce(path: string, env: readonly string[]): void {
  const pid = [0];
  const failure: number = posixSpawn(pid, path, null, null, [path, null], [...env, null]);
  if (failure !== 0) throw new Error(`posix_spawn failed with ${failure}`);
  waitpid(pid[0], [0], 0);
}

/** Durations in milliseconds of `count` runs, one after another, nothing between them. */
export function bareRunsMs(path: string, env: readonly string[], count: number): number[] {
  const durations: number[] = [];
  for (let run = 0; run < count; run += 1) {
    const startMs = performance.now();
    runOnce(path, env);
    durations.push(performance.now() - startMs);
  }
  return durations;
}
