import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { MODULE_CRD, MODULE_CRD_NAME } from './module-crd.ts';

test('the chart of the operator ships the same definition', async () => {
  const path = join(import.meta.dirname, '../../deploy/addon-operator/crds', `${MODULE_CRD_NAME}.yaml`);
  expect(load(await readFile(path, 'utf8'))).toEqual(MODULE_CRD);
});
