import { statSync } from 'node:fs';
import { messageOf } from '@addon-operator/base/errors';
import { type ExecutableFile, findExecutable, inspectExecutable } from './executable-file.ts';
import type { SpawnFailure, SpawnRequest } from './launcher-protocol.ts';

const PATH = 'PATH=';

/** The executable of a request, or why it must not be spawned. */
export type SpawnCheck =
  | { readonly type: 'executable'; readonly path: string }
  | { readonly type: 'failure'; readonly failure: SpawnFailure };

/** Finds the executable and refuses files that the kernel would not run by themselves. */
export function checkBeforeSpawn(request: SpawnRequest): SpawnCheck {
  const path = request.env.find((entry) => entry.startsWith(PATH))?.slice(PATH.length);
  const executable = findExecutable(request.file, path ?? '');
  if (executable === undefined) {
    const reason = `there is no executable "${request.file}" in PATH (${path ?? 'not set'})`;
    return { type: 'failure', failure: { code: 'ENOENT', reason } };
  }
  const found = inspectExecutable(executable);
  if (found.type !== 'refused') return { type: 'executable', path: executable };
  return { type: 'failure', failure: { code: 'ENOEXEC', reason: found.reason } };
}

/** Puts the errno of a failed spawn into words that name the culprit: directory, file, interpreter or limit. */
export function explainSpawnFailure(code: string, executable: string, request: SpawnRequest): SpawnFailure {
  return { code, reason: reasonOf(code, executable, request) };
}

/**
 * The cause in words. The working directory is checked first: the kernel reports ENOENT for it as for the
 * file.
 */
function reasonOf(code: string, executable: string, request: SpawnRequest): string {
  const cwdProblem = directoryProblem(request.cwd);
  if (cwdProblem !== undefined) return `the working directory ${request.cwd} ${cwdProblem}`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return missingReason(executable, inspectExecutable(executable));
    case 'EACCES':
      return `permission denied; is it executable (chmod +x) and not on a noexec file system? (${executable})`;
    case 'E2BIG':
      return 'the arguments and the environment are larger than the kernel allows (128 KiB a string); pass files instead';
    case 'ETXTBSY':
      return 'the file is still being written by another process';
    case 'ELOOP':
      return 'its path contains a loop of symbolic links';
    case 'EMFILE':
    case 'ENFILE':
      return `too many open files (${code})`;
    case 'EAGAIN':
    case 'ENOMEM':
      return `the system has no processes or memory left (${code})`;
    default:
      return `the system refused it (${code})`;
  }
}

/** ENOENT for a script that exists means that its interpreter is missing. */
function missingReason(executable: string, found: ExecutableFile): string {
  if (found.type !== 'script') return 'there is no such file, or its dynamic loader is missing';
  if (!found.interpreter.endsWith('\r')) return `its interpreter ${found.interpreter} does not exist`;
  const shown = JSON.stringify(found.interpreter).slice(1, -1);
  return `its interpreter "${shown}" does not exist: the lines of ${executable} end in CR LF; convert them to LF`;
}

/** The problem with the working directory; undefined if there is none. */
function directoryProblem(directory: string): string | undefined {
  try {
    return statSync(directory).isDirectory() ? undefined : 'is not a directory';
  } catch (error) {
    return `cannot be entered: ${messageOf(error)}`;
  }
}
