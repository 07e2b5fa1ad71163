import { expect, test } from 'vitest';
import { counted } from '../parts/names.ts';
import { taskName, taskPhrase } from './task-names.ts';
import {
  agoText,
  bytesText,
  countdownIn,
  durationText,
  momentText,
  sentenceParts,
  splitReason,
  untilText,
} from './time-text.ts';
import { visibleText } from './visible-text.ts';

test('durations have the unit that fits', () => {
  expect(
    [0, 12.4, 999, 1_000, 3_449, 12_000, 65_000, 120_000, 3_600_000, 90_000_000].map(durationText),
  ).toEqual(['0 ms', '12 ms', '999 ms', '1.0 s', '3.4 s', '12 s', '1 min 5 s', '2 min', '1 h', '1 d 1 h']);
});

test('numbers of things are grouped by thousands, and one thing is singular', () => {
  expect([0, 1, 999, 1_000, 20_045, 1_234_567].map((count) => counted(count, 'task'))).toEqual([
    '0 tasks',
    '1 task',
    '999 tasks',
    '1,000 tasks',
    '20,045 tasks',
    '1,234,567 tasks',
  ]);
});

test('relative times round down for the past and up for the future', () => {
  expect([-5, 999, 1_999, 59_999, 3_599_999, 86_399_999, 200_000_000].map(agoText)).toEqual([
    'now',
    'now',
    '1 s ago',
    '59 s ago',
    '59 min ago',
    '23 h ago',
    '2 d ago',
  ]);
  expect([-1, 0, 1, 22_001, 61_000, 7_260_000].map(untilText)).toEqual([
    'now',
    'now',
    'in 1 s',
    'in 23 s',
    'in 1 min 1 s',
    'in 2 h 1 min',
  ]);
});

test('a sentence has words, code and times, and nothing else is taken for one', () => {
  expect(sentenceParts('is paused until 2026-01-02T03:04:05.678Z: `a b` ends it')).toEqual([
    { kind: 'words', text: 'is paused until ' },
    { kind: 'time', text: '2026-01-02T03:04:05.678Z' },
    { kind: 'words', text: ': ' },
    { kind: 'code', text: 'a b' },
    { kind: 'words', text: ' ends it' },
  ]);
  expect(sentenceParts('2026-01-02 and ` alone')).toEqual([
    { kind: 'words', text: '2026-01-02 and ` alone' },
  ]);
});

test('tasks have names for people, and types that are not known stay', () => {
  expect(sentenceParts('to try ModuleRun web again, RunModuleRunner')).toEqual([
    { kind: 'words', text: 'to try ' },
    { kind: 'task', text: 'ModuleRun' },
    { kind: 'words', text: ' web again, RunModuleRunner' },
  ]);
  expect([taskName('ModuleRun'), taskPhrase('ModuleRun'), taskName('toString')]).toEqual([
    'Run module',
    'the run of module',
    'toString',
  ]);
});

test('a time of today is that of a clock, another one has its date', () => {
  const at = new Date(2026, 0, 2, 13, 4, 5);
  const clock = at.toLocaleTimeString([], { hourCycle: 'h23' });
  expect(momentText(at.toISOString(), at.getTime() + 60_000)).toBe(clock);
  const other = momentText(at.toISOString(), at.getTime() + 48 * 3_600_000);
  expect(other).toBe(`${at.toLocaleDateString()} ${clock}`);
});

test('bytes have the unit that fits', () => {
  expect([0, 1_023, 1_024, 52_428_800, 5e12].map(bytesText)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '50 MiB',
    '4657 GiB',
  ]);
});

test('the seconds of a wait are found in the sentence of the operator', () => {
  const text = 'queue main waits 23 s to try ModuleRun web again (failed attempts: 3): it waits 5 s to try';
  expect(countdownIn(text)).toEqual({
    before: 'queue main waits ',
    seconds: 23,
    after: ' to try ModuleRun web again (failed attempts: 3): it waits 5 s to try',
  });
  expect(countdownIn('all is well: 3 modules ready, nothing to do')).toBeUndefined();
});

test('characters that are not seen are escapes, and everything else is as it was', () => {
  expect(visibleText('\u001b[31mred\u0000\u007f\u009b')).toBe('\\x1b[31mred\\x00\\x7f\\x9b');
  expect(visibleText('user\u202egnp.exe \u2066a\u200b\ufeff')).toBe(
    'user\\u202egnp.exe \\u2066a\\u200b\\ufeff',
  );
  expect(visibleText('line\r\n')).toBe('line\\x0d\n');
  const plain = 'a\tb\nc <img src=x onerror=alert(1)> “ü” 日本 👍';
  expect(visibleText(plain)).toBe(plain);
});

test('the reason of a sentence begins behind its first colon that is not in brackets', () => {
  expect(splitReason('queue main waits 1 s (failed attempts: 3); 2 tasks behind it: exit code 1: x')).toEqual(
    ['queue main waits 1 s (failed attempts: 3); 2 tasks behind it', 'exit code 1: x'],
  );
  expect(splitReason('all tasks done')).toEqual(['all tasks done', '']);
  const failure = "run hooks by binding beforeHelm: module hook 'a.sh' failed: no host";
  expect(splitReason(failure)).toEqual(["module hook 'a.sh' failed", 'no host']);
  expect(splitReason(`queue main waits 1 s: ${failure}`)).toEqual([
    'queue main waits 1 s',
    "module hook 'a.sh' failed: no host",
  ]);
});
