import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { publishedSchema } from '../../src/hook-config/hook-config-schemas.ts';
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

test.each(SAMPLE_PAGES.flatMap(samplesOf).filter(({ name }) => name?.startsWith('config-')))(
  'the published schema accepts the sample $name',
  ({ name, text }) => {
    const version = name === 'config-old' ? 'v0' : 'v1';
    const accepts = new Ajv({ allowUnionTypes: true }).compile(
      publishedSchema(version, name === 'config-module' ? 'module' : 'global'),
    );
    const isAccepted = accepts(load(text));
    expect({ isAccepted, errors: accepts.errors }).toEqual({ isAccepted: true, errors: null });
  },
);

test('every named sample of the pages about hooks is produced or used by one scenario, and every scenario by a page', () => {
  const used = SCENARIOS.flatMap(({ takes, gives }) => [...takes, ...gives]);
  const given = SCENARIOS.flatMap(({ gives }) => gives);
  expect(named.toSorted()).toEqual([...new Set(used)].toSorted());
  expect(given.length).toBe(new Set(given).size);
});
