import { expect, test } from 'vitest';
import { markedRun, RUN_VARIABLE, runMarker, runOfProcess } from './run-marker.ts';

const ID = 'a1b2';
const marked = (run: number): string => `${RUN_VARIABLE}=${runMarker(ID, run)}`;

test.each<[string, string, number | undefined]>([
  ['the only variable', marked(7), 7],
  ['the last of several', `PATH=/bin\0${marked(4_294_967_295)}\0`, 4_294_967_295],
  ['the first of several', `${marked(1)}\0PATH=/bin\0`, 1],
  ['in the value of another', `NOTE=${marked(3)}\0`, undefined],
  ['the end of another name', `MY_${marked(3)}\0`, undefined],
  ['behind one that only looks like it', `NOTE=${marked(3)}\0${marked(4)}\0`, 4],
  ['of another launcher', `${RUN_VARIABLE}=other.3\0`, undefined],
  ['not a number', `${RUN_VARIABLE}=${ID}.x\0`, undefined],
  ['a number and more', `${marked(3)}x\0`, undefined],
  ['absent', '', undefined],
])('markedRun() finds the run, when the marker is %s', (_where, environ, run) => {
  expect(markedRun(Buffer.from(environ), ID)).toBe(run);
});

test('runOfProcess() is undefined, when there is no such process', () => {
  expect(runOfProcess(2 ** 22 + 1, ID)).toBeUndefined();
});
