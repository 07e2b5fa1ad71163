import { beforeAll } from 'vitest';
import { catalogueApplicationTests } from '../examples/catalogue/suite.ts';
import { webhookTests } from '../examples/catalogue/webhooks.ts';
import { tidyControlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';

describeCluster('applications of the example catalogue on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await tidyControlPlaneBackend(cluster());
  });

  catalogueApplicationTests(() => backend);
  webhookTests(() => backend);
});
