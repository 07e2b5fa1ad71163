import { afterAll, beforeAll, describe, inject, type TestOptions } from 'vitest';
import { apiIndependent } from './api-independent.ts';
import { controlPlaneBackend, type SandboxBackend, sandboxBackend } from './backends.ts';
import { describeCluster } from './control-plane/cluster-suite.ts';
import type { Cluster } from './control-plane/global-setup.ts';
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
  describeOnBackend({}, suite);
}

/**
 * The same for tests of what no API server can influence, see "What runs where" in CONTRIBUTING.md. The gate runs them
 * on the sandbox alone, `npm run test:all` on the control plane too.
 */
export function describeApiIndependent(suite: Suite): void {
  describeOnBackend(apiIndependent, suite);
}

type Suite = (backend: () => Backend) => void;

function describeOnBackend(options: TestOptions, suite: Suite): void {
  if (inject('lifecycleBackend') === 'sandbox') describeOnSandbox(options, suite);
  else describeOnControlPlane(options, suite);
}

function describeOnSandbox(options: TestOptions, suite: Suite): void {
  describe('lifecycle on the sandbox', options, () => {
    let backend: SandboxBackend;
    beforeAll(async () => {
      backend = await sandboxBackend();
    });
    afterAll(() => backend[Symbol.asyncDispose]());

    suite(() => backend);
  });
}

function describeOnControlPlane(options: TestOptions, suite: Suite): void {
  const describeBackend = (cluster: () => Cluster): void => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await controlPlaneBackend(cluster());
    });

    suite(() => backend);
  };
  describeCluster('lifecycle on the control plane', describeBackend, options);
}
