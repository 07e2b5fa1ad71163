import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  deployRecovery,
  OWN_RECORDS,
  RELEASE_STATES,
  uninstallRecovery,
} from '@addon-operator/helm/recovery-table';
import { markdownTable } from '@addon-operator/strings/markdown-table';
import { expect, test } from 'vitest';

type Recovery = (...cell: Parameters<typeof deployRecovery>) => string;

function table(recovery: Recovery): string {
  return markdownTable(
    ['newest record', ...OWN_RECORDS.map((own) => `\`${own}\``)],
    RELEASE_STATES.map((state) => [`\`${state}\``, ...OWN_RECORDS.map((own) => recovery(state, own))]),
  );
}

test('the tables of docs/helm.md equal those of the code', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/helm.md'), 'utf8');
  expect(page).toContain(table(deployRecovery));
  expect(page).toContain(table((state, own) => uninstallRecovery(state, own, false)));
});
