// Loaded into a daemon before its own code: SIGUSR2 causes an error of every server that listens, as the system does when
// a connection cannot be accepted, and prints on stderr how many there were.
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const servers = new Set<Server>();

if (isMainThread) {
  subscribe('tracing:net.server.listen:asyncStart', (message) => {
    const { server } = message as { readonly server: Server };
    servers.add(server);
    server.once('close', () => servers.delete(server));
  });
  process.on('SIGUSR2', () => {
    const listening = [...servers].filter((server) => server.listening);
    for (const server of listening)
      server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    process.stdout.write(`${JSON.stringify({ msg: 'planted errors', servers: listening.length })}\n`);
  });
}
