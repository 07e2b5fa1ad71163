import { expect, test } from 'vitest';
import { ConfigMapEventLog } from './log-parameters.ts';

test('events of the ConfigMap are logged while the parameter is true', () => {
  const events = new ConfigMapEventLog();
  const { parameter } = events;
  expect([parameter.default, events.isOn]).toEqual(['false', false]);
  parameter.apply('true');
  expect(events.isOn).toBe(true);
  parameter.apply('0');
  expect(events.isOn).toBe(false);
});

test('a value that is no boolean is refused', () => {
  expect(() => new ConfigMapEventLog().parameter.validate('yes')).toThrow(
    '"yes" is not a boolean, use true or false',
  );
});
