import { expect, test } from 'vitest';
import type { WellFacts } from '../journal/wells.ts';
import { changedLines, changedSince } from './module-changed.ts';

const value = (pointer: string, text: string, checksum?: number) => ({
  pointer,
  text,
  source: 'files',
  ...(checksum !== undefined && { checksum }),
});

function facts(values: WellFacts['sections'][number]['values'], more: Partial<WellFacts> = {}): WellFacts {
  return { version: '1.0.0', files: 'f1', sections: [{ name: 'web', values }], ...more };
}

const wellWith = (known: WellFacts) => ({ facts: known, at: '2026-01-01T00:00:00.000Z', run: 7 });

test('a changed, a new and a removed value are listed, and one that differs behind its cut', () => {
  const well = wellWith(
    facts([value('/same', '1'), value('/a', '1'), value('/gone', '"x"'), value('/long', 'xx…', 1)]),
  );
  const now = facts([value('/same', '1'), value('/a', '2'), value('/new', 'true'), value('/long', 'xx…', 2)]);
  const changed = changedSince(well, now, []);
  expect(changed).toMatchObject({ since: well.at, run: '7', version: null, files: null, objects: [] });
  expect(changedLines(changed)).toEqual([
    'value web/a: 1 → 2 (files)',
    'value web/new: none → true (files)',
    'value web/long: xx… → xx… (files)',
    'value web/gone: "x" → none (files)',
  ]);
});

test('version, files and objects are named, and of many values only the first', () => {
  const many = Array.from({ length: 60 }, (_, index) => value(`/${index}`, String(index)));
  const drift = [{ resource: 'n/ConfigMap/a', fields: ['/data/x'], changedBy: ['kubectl'], since: 's' }];
  const changed = changedSince(wellWith(facts([])), facts(many, { version: '2.0.0', files: 'f2' }), drift);
  expect(changed.values).toHaveLength(50);
  const lines = changedLines(changed);
  expect([...lines.slice(0, 2), ...lines.slice(-2)]).toEqual([
    'version 1.0.0 → 2.0.0',
    'files of the module',
    '10 more values',
    'object n/ConfigMap/a: /data/x (kubectl)',
  ]);
});

test('without a good run nothing is compared', () => {
  expect(changedSince(undefined, facts([value('/a', '1')]), [])).toMatchObject({ since: null, values: [] });
});
