import { expect, test } from 'vitest';
import { testReportText } from './report-formats.ts';
import type { FileResult } from './report-text.ts';

const FILES: readonly FileResult[] = [
  {
    file: 'tests/a.hook-test.yaml',
    cases: [
      { name: 'passes', durationMs: 12, result: 'passed' },
      { name: 'waits #1', durationMs: 0, result: 'skipped', reason: 'later' },
      {
        name: 'fails, "badly"',
        durationMs: 3,
        result: 'failed',
        failure: { runs: [], findings: [{ message: '100% <wrong>\u{1}' }, { message: 'and more' }] },
      },
    ],
  },
  { file: 'b', cases: [], problem: 'b:1: hook is missing' },
];

test('JUnit has a suite for each file, and text that XML can have', () => {
  expect(testReportText('junit', FILES)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="tests/a.hook-test.yaml" tests="3" failures="1" skipped="1">
    <testcase classname="tests/a.hook-test.yaml" name="passes" time="0.012"/>
    <testcase classname="tests/a.hook-test.yaml" name="waits #1" time="0.000">
      <skipped message="later"/>
    </testcase>
    <testcase classname="tests/a.hook-test.yaml" name="fails, &quot;badly&quot;" time="0.003">
      <failure message="100% &lt;wrong&gt;\u{FFFD}">100% &lt;wrong&gt;\u{FFFD}&#10;and more</failure>
    </testcase>
  </testsuite>
  <testsuite name="b" tests="1" failures="1" skipped="0">
    <testcase classname="b" name="b" time="0.000">
      <failure message="b:1: hook is missing">b:1: hook is missing</failure>
    </testcase>
  </testsuite>
</testsuites>
`);
});

test('TAP numbers the cases, and has failures as comments', () => {
  expect(testReportText('tap', FILES)).toBe(`TAP version 14
1..4
ok 1 - tests/a.hook-test.yaml: passes
ok 2 - tests/a.hook-test.yaml: waits \\#1 # SKIP later
not ok 3 - tests/a.hook-test.yaml: fails, "badly"
# 100% <wrong>\u{1}
# and more
not ok 4 - b: b
# b:1: hook is missing
`);
});

test('GitHub gets an annotation for each failure', () => {
  expect(testReportText('github', FILES)).toBe(
    '::error file=tests/a.hook-test.yaml,title=fails%2C "badly"::100%25 <wrong>\u{1}%0Aand more\n' +
      '::error file=b,title=b::b:1: hook is missing\n',
  );
});
