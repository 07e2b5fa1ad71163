import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readSetting } from '../settings/read-settings.ts';
import { SETTINGS } from '../settings.ts';
import type { CliHost } from './cli-host.ts';
import { isGiven } from './sandbox/sandbox-flags.ts';
import { DEFAULT_STATE_DIR, sandboxFiles } from './sandbox/sandbox-paths.ts';

/**
 * Path of the debug socket of the operator that a command is about: by flag, variable, the sandbox of the working
 * directory or one of its parents, or the default. A sandbox that was killed leaves its socket, so that one counts only
 * while a process responds on it.
 *
 * @param flags values given on the command line, by flag name
 */
export async function findDebugSocket(
  flags: Readonly<Record<string, string>>,
  { env, cwd }: Pick<CliHost, 'env' | 'cwd'>,
): Promise<string> {
  const given = { env, flags };
  const path = readSetting('debugUnixSocket', given);
  if (isGiven(SETTINGS.debugUnixSocket.flag ?? '', given)) return path;
  for (const socket of sandboxSockets(cwd)) {
    if (isOurs(socket) && (await isResponded(socket))) return socket;
  }
  return path;
}

/** Another user may create a socket in a directory such as /tmp. */
function isOurs(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isSocket() === true && found.uid === process.getuid?.();
}

/** From the working directory upwards. */
function* sandboxSockets(cwd: string): Generator<string> {
  for (let directory = cwd; ; directory = dirname(directory)) {
    yield sandboxFiles(join(directory, DEFAULT_STATE_DIR), tmpdir()).debugSocket;
    if (directory === dirname(directory)) return;
  }
}

async function isResponded(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path, () => resolve(true));
  socket.on('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
