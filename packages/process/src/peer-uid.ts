import type { Socket } from 'node:net';

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** `struct ucred`: pid, uid and gid, four bytes each. */
const UCRED_BYTES = 12;
const UID_OFFSET = 4;

/**
 * The user who opened a connection to a unix socket of ours. Node does not say; the kernel does where koffi is installed,
 * on Linux. Undefined elsewhere.
 */
export async function peerUid(connection: Socket): Promise<number | undefined> {
  const fd = descriptorOf(connection);
  if (process.platform !== 'linux' || fd === undefined) return undefined;
  try {
    const koffi = await import('koffi');
    const getsockopt = koffi
      .load(null)
      .func('int getsockopt(int fd, int level, int name, void *value, void *length)');
    const credentials = Buffer.alloc(UCRED_BYTES);
    const length = Buffer.alloc(4);
    length.writeInt32LE(UCRED_BYTES);
    const result: unknown = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length);
    return result === 0 ? credentials.readUInt32LE(UID_OFFSET) : undefined;
  } catch {
    // Without koffi nothing is known; the request is served all the same.
    return undefined;
  }
}

/** Node keeps the descriptor of a socket in its handle, without an interface for it. */
function descriptorOf(connection: Socket): number | undefined {
  const handle: unknown = Reflect.get(connection, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const fd: unknown = Reflect.get(handle, 'fd');
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}
