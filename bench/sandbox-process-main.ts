import { sandboxBackend } from '../test/support/backends.ts';
import type { SandboxReady } from './sandbox-process.ts';

const { sandbox, kubeconfigPath, helmPath } = await sandboxBackend();
process.once('disconnect', () => void sandbox.stop());
process.send?.({ url: sandbox.url, kubeconfigPath, helmPath } satisfies SandboxReady);
