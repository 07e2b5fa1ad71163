import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { daemonView } from '../../../test/support/daemon-view-stub.ts';
import { readySummary } from '../../../test/support/module-explanations.ts';
import { API_SCHEMAS } from './schemas.ts';
import { DocsIndex, docsPage, searchResults } from './search.ts';

const view = daemonView({
  modules: () => ['web', 'my-web', 'db'].map((module) => readySummary(module)),
  globalHooks: () => ['web-global.sh'],
  monitoredResources: () => ({ db: ['ns/ConfigMap/web-settings'], web: undefined }),
});

const hooks = ['web-global.sh', 'db/hooks/a.sh'];

async function found(query: string): Promise<readonly string[]> {
  const results = await searchResults(view, query, { hooks, docs: [] }, new AbortController().signal);
  return results.map(({ kind, name }) => `${kind} ${name}`);
}

test('names are found by all words of the query: exact ones first, then those that begin with it', async () => {
  expect(await found('WEB')).toEqual([
    'module web',
    'module my-web',
    'hook web-global.sh',
    'object ns/ConfigMap/web-settings',
  ]);
  expect(await found('web settings')).toEqual(['object ns/ConfigMap/web-settings']);
  expect(await found('db a.sh')).toEqual(['hook hooks/a.sh']);
  expect(await found('  ')).toEqual([]);
  expect(await found('nothing-has-this')).toEqual([]);
});

test('sections of the documentation come last, and the response has its schema', async () => {
  const sections = await new DocsIndex().search('HELM_LOCKED');
  const results = await searchResults(view, 'web', { hooks, docs: sections }, new AbortController().signal);
  expect(results.at(-1)).toMatchObject({ kind: 'page', page: expect.stringMatching(/\.md$/) as string });
  expect(new Ajv({ strict: false }).validate(API_SCHEMAS['search'] ?? false, { results })).toBe(true);
});

test('a page of the documentation is served by sections, and nothing outside of it', async () => {
  expect((await docsPage('hooks.md'))?.sections.length).toBeGreaterThan(5);
  expect(await docsPage('../package.json')).toBeUndefined();
});
