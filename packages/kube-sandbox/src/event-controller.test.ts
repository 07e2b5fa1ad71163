import { expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { listAt, stringAt } from './json-access.ts';

const EVENTS = '/api/v1/namespaces/default/events';

function names(lab: ApiLab): readonly string[] {
  return listAt(lab.get(EVENTS).body, 'items').map((item) => stringAt(item, 'metadata', 'name'));
}

test('an Event that is an hour old goes when the next one comes', async () => {
  const lab = new ApiLab();
  lab.startControllers();
  lab.create(EVENTS, { metadata: { name: 'old' } });
  lab.create(EVENTS, { metadata: { name: 'repeated' }, lastTimestamp: '2026-01-01T00:30:00Z' });
  await lab.settle();
  await lab.clock.advance(3_600_001);
  await lab.settle();
  expect(names(lab)).toEqual(['old', 'repeated']);
  lab.create(EVENTS, { metadata: { name: 'young' } });
  await lab.settle();
  expect(names(lab)).toEqual(['repeated', 'young']);
});
