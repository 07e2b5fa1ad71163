import { expect, test } from 'vitest';
import { SAMPLE_PAGES, samplesOf } from '../docs/sample-pages.ts';
import { SCENARIOS } from '../docs/scenarios.ts';

const DATA = ['json', 'jsonl', 'yaml'];
const named = SAMPLE_PAGES.flatMap(samplesOf).flatMap(({ name }) => (name === undefined ? [] : [name]));

test.each(SAMPLE_PAGES)('every block of data in %s has a name', (page) => {
  const nameless = samplesOf(page).filter(
    ({ language, name }) => DATA.includes(language) && name === undefined,
  );
  expect(nameless).toEqual([]);
});

test('every named sample of the pages about hooks is produced or used by one scenario, and every scenario by a page', () => {
  const used = SCENARIOS.flatMap(({ takes, gives }) => [...takes, ...gives]);
  const given = SCENARIOS.flatMap(({ gives }) => gives);
  expect(named.toSorted()).toEqual([...new Set(used)].toSorted());
  expect(given.length).toBe(new Set(given).size);
});
