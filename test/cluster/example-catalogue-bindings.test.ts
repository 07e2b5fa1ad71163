import { beforeAll } from 'vitest';
import { catalogueBindingTests } from '../examples/catalogue/suite.ts';
import { tidyControlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';

describeCluster('bindings of the example catalogue on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await tidyControlPlaneBackend(cluster());
  });

  catalogueBindingTests(() => backend);
});
