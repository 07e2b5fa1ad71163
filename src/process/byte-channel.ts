import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const READ_BYTES = 64 * 1024;
const SOCKET = 'launcher.sock';
const DIRECTORY_PREFIX = 'addon-operator-';
/** Longer paths of sockets are cut or refused by some systems. */
const MAX_SOCKET_PATH_BYTES = 100;

/** A one-way stream of bytes from a child process. */
export interface ByteChannel {
  /** To be given to the child as one of its stdio streams, then destroyed here. */
  readonly childEnd: Socket;
  /** Resolves when every byte has been handed over and the child has closed its end. */
  readonly closed: Promise<void>;
}

/**
 * Opens a channel that is read into one buffer for ever. The stdio pipes of node:child_process allocate 64 KiB a read,
 * which costs the daemon 100 MB and more when a hook prints much.
 *
 * @param onBytes called with what was read; the bytes are valid only during the call
 * @param parent a directory that can be written, needed while the channel is opened; where its path is too long for a
 *   socket that of the system for temporary files is taken
 */
export async function openByteChannel(
  onBytes: (bytes: Buffer) => void,
  parent = tmpdir(),
): Promise<ByteChannel> {
  // A socket in a private directory: nobody else can connect between listening and accepting.
  const longest = path.join(parent, `${DIRECTORY_PREFIX}XXXXXX`, SOCKET);
  const isTooLong = Buffer.byteLength(longest) > MAX_SOCKET_PATH_BYTES;
  const directory = await mkdtemp(path.join(isTooLong ? tmpdir() : parent, DIRECTORY_PREFIX));
  const server = createServer({ pauseOnConnect: true });
  try {
    const socketPath = path.join(directory, SOCKET);
    server.listen(socketPath);
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const onread = {
      buffer,
      callback: (bytes: number): boolean => {
        onBytes(buffer.subarray(0, bytes));
        return true;
      },
    };
    const reader = connect({ path: socketPath, onread });
    const closed = Promise.withResolvers<void>();
    reader.on('error', () => reader.destroy());
    reader.on('close', () => closed.resolve());
    reader.resume();
    const [childEnd]: Socket[] = await accepted;
    if (childEnd === undefined) throw new Error('no connection was accepted');
    return { childEnd, closed: closed.promise };
  } finally {
    server.close();
    await rm(directory, { recursive: true, force: true });
  }
}
