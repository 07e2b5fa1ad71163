import { sandboxBackend } from '../test/support/backends.ts';
import type { SandboxReady } from './sandbox-process.ts';

const backend = await sandboxBackend();
const { sandbox, kubeconfigPath, helmPath } = backend;
process.once('disconnect', () => void backend[Symbol.asyncDispose]());
process.send?.({ url: sandbox.url, kubeconfigPath, helmPath } satisfies SandboxReady);
