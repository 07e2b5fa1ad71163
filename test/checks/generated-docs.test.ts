import { expect, test } from 'vitest';
import { metricsPage } from '../../src/metrics/metrics-page.ts';
import { settingsPage } from '../../src/settings/settings-page.ts';

// `npx vitest run --project unit test/checks/generated-docs.test.ts -u` writes the pages anew.
test.each([
  ['settings.md', settingsPage],
  ['metrics.md', metricsPage],
])('docs/%s equals the page generated from its table', async (name, page) => {
  await expect(page()).toMatchFileSnapshot(`../../docs/${name}`);
});
