import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { metricsPage } from '../../src/metrics/metrics-page.ts';
import { ACTIONS } from '../../src/server/api/actions.ts';
import { durationType } from '../../src/settings/setting-type.ts';
import { settingsPage } from '../../src/settings/settings-page.ts';
import { SETTINGS } from '../../src/settings.ts';
import { rulesPage } from '../../src/tools/lint/rules-page.ts';
import { projectRoot } from './checkout.ts';

// `npx vitest run --project unit test/checks/generated-docs.test.ts -u` writes the pages anew.
test.each([
  ['settings.md', settingsPage],
  ['metrics.md', metricsPage],
  ['lint.md', rulesPage],
])('docs/%s equals the page generated from its table', async (name, page) => {
  await expect(page()).toMatchFileSnapshot(`../../docs/${name}`);
});

test('docs/api.md has all actions', () => {
  const rows = Object.entries(ACTIONS).map(([name, { verb, target, does, loses, needs, takes }]) => {
    const optional = takes.map((field) => `[${field}]`);
    const fields = [...needs, ...optional].map((field) => `\`${field}\``).join(', ');
    return `| \`${name}\` | ${target} | \`${verb}\` | ${fields} | ${does}${loses === '' ? '' : ` ${loses}`} |\n`;
  });
  const head = '| action | on | verb | fields | effect |\n|---|---|---|---|---|\n';
  expect(readFileSync(join(projectRoot, 'docs/api.md'), 'utf8')).toContain(`\n${head}${rows.join('')}\n`);
});

test('the chart knows the variables of all settings', async () => {
  const variables = new Set(Object.values(SETTINGS).flatMap(({ env }) => env));
  const text = `${[...variables].toSorted().join('\n')}\n`;
  await expect(text).toMatchFileSnapshot('../../deploy/addon-operator/files/settings.txt');
});

test('the chart knows which settings are durations', async () => {
  const durations = Object.values(SETTINGS).filter(({ type }) => type.accepted === durationType.accepted);
  const text = `${durations
    .flatMap(({ env }) => env)
    .toSorted()
    .join('\n')}\n`;
  await expect(text).toMatchFileSnapshot('../../deploy/addon-operator/files/duration-settings.txt');
});
