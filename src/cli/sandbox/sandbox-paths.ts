import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** The state directory of a sandbox that names no other, in its working directory. */
export const DEFAULT_STATE_DIR = '.sandbox';

/** Where everything of one sandbox lies; all paths are absolute. */
export interface SandboxFiles {
  readonly stateDir: string;
  /** State of the embedded API. */
  readonly apiDir: string;
  readonly kubeconfig: string;
  readonly log: string;
  readonly tmpDir: string;
  /** Programs that hooks find before those of the machine. */
  readonly binDir: string;
  readonly debugSocket: string;
}

/** The system takes socket paths of up to 107 bytes, on macOS 103. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * The files of a sandbox.
 *
 * @param stateDir absolute path
 * @param systemTmpDir where the debug socket goes if its path would be too long for the system
 */
export function sandboxFiles(stateDir: string, systemTmpDir: string): SandboxFiles {
  const socket = join(stateDir, 'debug.socket');
  const id = createHash('sha256').update(stateDir).digest('hex').slice(0, 12);
  const isShort = Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES;
  return {
    stateDir,
    apiDir: join(stateDir, 'api'),
    kubeconfig: join(stateDir, 'kubeconfig'),
    log: join(stateDir, 'daemon.log'),
    tmpDir: join(stateDir, 'tmp'),
    binDir: join(stateDir, 'bin'),
    debugSocket: isShort ? socket : join(systemTmpDir, `addon-operator-${id}`, 'debug.socket'),
  };
}
