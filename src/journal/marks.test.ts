import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { Journal } from './journal.ts';

test('marks are listed by their begin, those that were over before are left out', async () => {
  const clock = new FakeClock(1_000);
  const { marks } = new Journal({ clock });
  marks.add({ kind: 'config', text: 'old' });
  await clock.advance(10_000);
  marks.add({ kind: 'version', text: 'version 1 → 2', module: 'web' });
  await clock.advance(1_000);
  marks.add({ kind: 'outage', text: 'away' }, 9_000);
  expect(marks.since(5_000)).toEqual([
    {
      kind: 'outage',
      at: '1970-01-01T00:00:03.000Z',
      until: '1970-01-01T00:00:12.000Z',
      text: 'away',
      module: '',
    },
    { kind: 'version', at: '1970-01-01T00:00:11.000Z', until: null, text: 'version 1 → 2', module: 'web' },
  ]);
});

test('the last 500 marks are kept, with bounded texts, also over a restart', () => {
  const stored: object[] = [];
  const file = {
    append: (record: object) => void stored.push(record),
    take: () => stored,
    preamble: () => [],
  };
  const clock = new FakeClock();
  const { marks } = new Journal({ clock, file: { ...file, take: () => [] } });
  for (let number = 0; number < 600; number += 1)
    marks.add({ kind: 'files', text: `${number} ${'x'.repeat(300)}` });
  const kept = marks.since(0);
  expect(kept).toHaveLength(500);
  expect(kept[0]?.text).toMatch(/^100 x{195}…$/);
  expect(new Journal({ clock, file }).marks.since(0)).toEqual(kept);
});
