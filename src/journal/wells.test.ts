import { expect, test } from 'vitest';
import { knownValues, type StoredWell, Wells } from './wells.ts';

function wellOf(module: string, text: string, atMs = 0) {
  const sections = [{ name: module, values: [{ pointer: '/a', text, source: 'files' }] }];
  return { module, atMs, run: 1, facts: { version: '1', files: 'f', sections } };
}

test('the last good run is known after a restart, and facts that are the same are stored once', () => {
  const stored: StoredWell[] = [];
  const wells = new Wells([], (well) => void stored.push(well));
  wells.note(wellOf('web', '1', 1));
  wells.note(wellOf('web', '1', 2));
  wells.note(wellOf('web', '2', 3));
  wells.note(wellOf('web', '2', 4));
  expect(stored.map(({ facts }) => facts !== undefined)).toEqual([true, false, true, false]);
  const again = new Wells(stored, () => expect.unreachable('what is read is not stored again'));
  expect(again.of('web')).toEqual(wellOf('web', '2', 4));
  expect(again.of('db')).toBeUndefined();
});

test('memory is bounded: modules that have not run for longest go first', () => {
  const wells = new Wells([], () => undefined);
  for (let number = 0; number < 10; number += 1) wells.note(wellOf(`m${number}`, 'x'.repeat(200_000)));
  expect(wells.all.map(({ module }) => module)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9']);
});

test('values are masked before they are cut, and differ behind the cut', () => {
  const long = `hunter2 ${'x'.repeat(300)}`;
  const redact = (text: string): string => text.replaceAll('hunter2', '***');
  const source = 'config-map';
  const [one, other, short] = knownValues(
    [
      { pointer: '/a', value: `${long}1`, source },
      { pointer: '/a', value: `${long}2`, source },
      { pointer: '/b', value: { x: 1 }, source },
    ],
    redact,
  );
  expect(one?.text).toMatch(/^"\*\*\* x{195}…$/);
  expect(one?.text).toBe(other?.text);
  expect(one?.checksum).not.toBe(other?.checksum);
  expect(short).toEqual({ pointer: '/b', text: '{"x":1}', source });
});
