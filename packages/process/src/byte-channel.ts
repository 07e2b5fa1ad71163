import { once } from 'node:events';
import { mkdtemp, rmdir, unlink } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMissingFile } from '@addon-operator/files/missing-file';

const READ_BYTES = 64 * 1024;
const SOCKET = 'launcher.sock';
/** Followed by the number of this process: what one that died has left can be swept. */
export const CHANNEL_PREFIX = 'addon-operator-';
/** Longer paths of sockets are cut or refused by some systems. */
const MAX_SOCKET_PATH_BYTES = 100;

/** A one-way stream of bytes from a child process. */
export interface ByteChannel {
  /** To be given to the child as one of its stdio streams, then destroyed here. */
  readonly childEnd: Socket;
  /** Resolves when every byte has been passed on and the child has closed its end. */
  readonly closed: Promise<void>;
}

/**
 * Opens a channel that is read into one buffer for ever. The stdio pipes of node:child_process allocate 64 KiB a read,
 * which costs the daemon 100 MB and more when a hook prints much.
 *
 * @param onBytes called with what was read; the bytes are valid only during the call
 * @param parent a writable directory, needed while the channel is opened; where its path is too long for a socket, the
 *   system's directory for temporary files is used
 * @throws the error of the system, for example EMFILE; nothing stays open then
 */
export async function openByteChannel(
  onBytes: (bytes: Buffer) => void,
  parent = tmpdir(),
): Promise<ByteChannel> {
  // A socket in a private directory: no other client can connect between listening and accepting.
  const name = `${CHANNEL_PREFIX}${process.pid}-`;
  const longest = path.join(parent, `${name}XXXXXX`, SOCKET);
  const isTooLong = Buffer.byteLength(longest) > MAX_SOCKET_PATH_BYTES;
  const directory = await mkdtemp(path.join(isTooLong ? tmpdir() : parent, name));
  const socketPath = path.join(directory, SOCKET);
  const server = createServer({ pauseOnConnect: true });
  let reader: Socket | undefined;
  try {
    server.listen(socketPath);
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    reader = connectReader(socketPath, onBytes);
    const closed = closeOf(reader);
    const [childEnd]: Socket[] = await Promise.race([accepted, closed.then(refuse)]);
    if (childEnd === undefined) throw new Error('no connection was accepted');
    return { childEnd, closed: closed.then(() => undefined) };
  } catch (error) {
    reader?.destroy();
    throw error;
  } finally {
    server.close();
    await removeSocket(socketPath, directory);
  }
}

function connectReader(socketPath: string, onBytes: (bytes: Buffer) => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const onread = {
    buffer,
    callback: (bytes: number): boolean => {
      onBytes(buffer.subarray(0, bytes));
      return true;
    },
  };
  const reader = connect({ path: socketPath, onread });
  reader.resume();
  return reader;
}

/** Resolves when the socket is closed, with the error that closed it. */
function closeOf(socket: Socket): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
    socket.destroy();
  });
  socket.on('close', () => resolve(failure));
  return promise;
}

/** A process without free descriptors drops the connections that it should accept, and reports nothing else. */
function refuse(failure: Error | undefined): never {
  throw (
    failure ?? new Error('the connection was dropped, possibly because no file descriptors are left (EMFILE)')
  );
}

/** Without opening the directory: there may be no descriptor left for that. */
async function removeSocket(socketPath: string, directory: string): Promise<void> {
  try {
    await unlink(socketPath);
  } catch (error) {
    // The server removes its socket when it is closed.
    if (!isMissingFile(error)) throw error;
  }
  await rmdir(directory);
}
