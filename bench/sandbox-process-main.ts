import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { sandboxBackend } from '../test/support/backends.ts';
import type { SandboxReady } from './sandbox-process.ts';

const backend = await sandboxBackend();
const { sandbox, kubeconfigPath, helmPath } = backend;
/** Of the daemon and its helm processes: what the benchmark itself sends has another user agent. */
const COUNTED = /^(addon-operator|helm)\//i;
let requests = 0;
subscribe('http.server.request.start', (message) => {
  const { request } = message as { readonly request: IncomingMessage };
  if (COUNTED.test(request.headers['user-agent'] ?? '')) requests += 1;
});
process.on('message', () => process.send?.(requests));
process.once('disconnect', () => void backend[Symbol.asyncDispose]());
process.send?.({ url: sandbox.url, kubeconfigPath, helmPath } satisfies SandboxReady);
