import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { PACKAGE_WALL_CLOCK_READERS, wallClockProblems } from './wall-clock.ts';

test('all durations, deadlines and waits of src/ and packages/ are measured on the steady clock', () => {
  expect(wallClockProblems(sourcesIn('src'))).toEqual([]);
  const published = [...sourcesIn('packages')].filter(([file]) => /^[\w-]+\/src\//.test(file));
  expect(wallClockProblems(new Map(published), PACKAGE_WALL_CLOCK_READERS)).toEqual([]);
});

test.each([
  ['a file that is not listed', 'events/a.ts', 'const startedMs = clock.wallMs();'],
  ['Date.now', 'events/a.ts', 'const startedMs = Date.now();'],
  ['performance.now', 'events/a.ts', 'const startedMs = performance.now();'],
  ['a date of now', 'events/a.ts', 'const started = new Date();'],
  ['a timer', 'events/a.ts', 'setTimeout(retry, 1_000);'],
  ['a timer of Node', 'events/a.ts', "import { setTimeout } from 'node:timers/promises';"],
  ['a signal with a time limit', 'events/a.ts', 'await fetch(url, { signal: AbortSignal.timeout(1_000) });'],
  ['a duration', 'listed.ts', 'const startedMs = clock.wallMs();\nwork();\nlog(clock.wallMs() - startedMs);'],
  [
    'an age',
    'listed.ts',
    'this.#readAtMs = clock.wallMs();\nreturn this.#clock.wallMs() - this.#readAtMs < MAX_AGE_MS;',
  ],
  [
    'an age of a record',
    'listed.ts',
    'held = { value, readAtMs: clock.wallMs() };\nif (clock.wallMs() - held.readAtMs > 5) read();',
  ],
  [
    'a comparison',
    'listed.ts',
    'const nowMs = clock.wallMs();\nconst lastMs = clock.wallMs();\nif (nowMs <= lastMs) wait();',
  ],
])('wallClockProblems() finds %s', (_what, file, source) => {
  expect(wallClockProblems(new Map([[file, source]]), { 'listed.ts': 'shown' })).toContainEqual(
    expect.stringContaining(`src/${file} `),
  );
});

test('wallClockProblems() accepts a comparison with a time from outside, and says which entry is not needed', () => {
  const source = '// Date.now() is no clock.\nif (certificate.expiresMs - clock.wallMs() < DAY_MS) renew();';
  expect(wallClockProblems(new Map([['listed.ts', source]]), { 'listed.ts': 'certificates' })).toEqual([]);
  expect(wallClockProblems(new Map(), { 'gone.ts': 'shown' })).toEqual([
    'src/gone.ts is listed as a reader of the wall clock and is none',
  ]);
});
