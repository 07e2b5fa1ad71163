import { beforeAll } from 'vitest';
import { lifecycleTests } from '../lifecycle/suite.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';

describeCluster('lifecycle on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  lifecycleTests(() => backend);
});
