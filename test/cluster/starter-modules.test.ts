import { beforeAll } from 'vitest';
import { starterTests } from '../examples/starter.ts';
import { tidyControlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';

describeCluster('starter modules on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await tidyControlPlaneBackend(cluster());
  });

  starterTests(() => backend);
});
