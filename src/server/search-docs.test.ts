import { expect, test } from 'vitest';
import { DocsSearch, sectionsOf } from './search-docs.ts';

const PAGES = [
  ...sectionsOf(
    'a.md',
    '# Queues\nTasks wait in queues.\n```sh\n# Hooks\n```\n## Hooks\nA hook runs. `HELM_LOCKED`',
  ),
  ...sectionsOf(
    'b.md',
    'Before any heading: hooks and hooks and a queue.\n\n# Empty\n\n# Long\n' + 'hook '.repeat(1_000),
  ),
];

test('pages are split at headings, but not in code', () => {
  expect(PAGES.map(({ page, heading }) => `${page} ${heading}`)).toEqual([
    'a.md Queues',
    'a.md Hooks',
    'b.md b.md',
    'b.md Long',
  ]);
});

test.each([
  ['queue', 'Queues'],
  ['when a hook runs', 'Hooks'],
  ['helm_locked', 'Hooks'],
  ['why does a HOOK wait?', 'Queues'],
])('%s finds the section %s first', (query, heading) => {
  expect(new DocsSearch(PAGES).search(query)[0]?.heading).toBe(heading);
});

test('what is nowhere finds nothing, and texts are cut', () => {
  const search = new DocsSearch(PAGES);
  expect(search.search('zebra')).toEqual([]);
  expect(search.search('')).toEqual([]);
  expect(search.search('hook').find(({ heading }) => heading === 'Long')?.text).toHaveLength(2_000);
});
