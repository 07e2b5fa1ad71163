import { afterAll, beforeAll, describe, inject } from 'vitest';
import { controlPlaneBackend, type SandboxBackend, sandboxBackend } from './backends.ts';
import { describeCluster } from './control-plane/cluster-suite.ts';
import type { Backend } from './world.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The API server on which the lifecycle tests of a project run, see `vitest.config.ts`. */
    readonly lifecycleBackend: Backend['name'];
  }
}

/**
 * Tests of a behaviour of the lifecycle. Each file in `test/lifecycle` runs in two projects: on a sandbox of its own
 * (`contract`), and on the control plane of the run (`cluster`). `suite` is called in either case, so it may use
 * `backend()` inside tests and hooks only.
 */
export function describeLifecycle(suite: Suite): void {
  if (inject('lifecycleBackend') === 'sandbox') describeOnSandbox(suite);
  else describeOnControlPlane(suite);
}

type Suite = (backend: () => Backend) => void;

function describeOnSandbox(suite: Suite): void {
  describe('lifecycle on the sandbox', () => {
    let backend: SandboxBackend;
    beforeAll(async () => {
      backend = await sandboxBackend();
    });
    afterAll(() => backend[Symbol.asyncDispose]());

    suite(() => backend);
  });
}

function describeOnControlPlane(suite: Suite): void {
  describeCluster('lifecycle on the control plane', (cluster) => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await controlPlaneBackend(cluster());
    });

    suite(() => backend);
  });
}
