import { join } from 'node:path';
import { dump } from 'js-yaml';
import { expect, test } from 'vitest';
import { MODULE_INSTALL_CRD, MODULE_SOURCE_CRD } from './delivery-crds.ts';

const CHART = join(import.meta.dirname, '../../deploy/addon-operator/crds');

// `-u` writes them.
test.each([MODULE_SOURCE_CRD, MODULE_INSTALL_CRD])(
  'the chart of the operator ships $metadata.name',
  async (crd) => {
    const content = dump(crd, { lineWidth: 120, noRefs: true });
    await expect(content).toMatchFileSnapshot(join(CHART, `${crd.metadata.name}.yaml`));
  },
);
