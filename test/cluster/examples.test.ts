import { beforeAll } from 'vitest';
import { exampleTests } from '../examples/suite.ts';
import { tidyControlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';

describeCluster('examples on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await tidyControlPlaneBackend(cluster());
  });

  exampleTests(() => backend);
});
