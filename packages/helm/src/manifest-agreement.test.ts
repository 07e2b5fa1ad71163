import { expect, test } from 'vitest';
import { agreesWithBoth } from './manifest-agreement.ts';

function map(data: string, name = 'web'): string {
  return `---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
}

const PEM = (lines: readonly string[]): string =>
  map(JSON.stringify({ pem: ['BEGIN', ...lines, 'END', 'seen: a'].join('\n') }));

test.each([
  ['the same text', map('{a: x}'), map('{a: x}'), map('{a: x}')],
  ['another spelling', map('{"a": "x"}'), map('{a: x}'), map('{a: x}')],
  ['a value that differs each time', map('{a: x, t: "1"}'), map('{a: x, t: "2"}'), map('{a: x, t: "3"}')],
  ['numbers that differ each time', map('{t: 1}'), map('{t: 2}'), map('{t: 3}')],
  ['a line that differs each time', map('{a: "x\\n1"}'), map('{a: "x\\n2"}'), map('{a: "x\\n3"}')],
  ['lines, of which there may be more', PEM(['1', '2', '3']), PEM(['4', '5']), PEM(['6', '7'])],
  ['as many lines as one of both by chance', PEM(['1', '2']), PEM(['4', '5', '6']), PEM(['7', '8'])],
  [
    'a line of a certificate that is the same twice by chance',
    PEM(['1', 'x'.repeat(64), '2']),
    PEM(['3', 'y'.repeat(64), '4']),
    PEM(['5', 'y'.repeat(64), '6']),
  ],
  ['keys that differ each time', map('{a: x, r1: "1"}'), map('{a: x, r2: "1"}'), map('{a: x, r3: "1"}')],
  ['names that differ each time', map('{a: x}', 'job-1'), map('{a: x}', 'job-2'), map('{a: x}', 'job-3')],
  ['lists of changing length', map('{l: [1]}'), map('{l: [1, 2]}'), map('{l: [1, 2, 3]}')],
  [
    'another order of kinds',
    `${map('{a: x}')}---\nkind: Secret\nmetadata: {name: s}\n`,
    `---\nkind: Secret\nmetadata: {name: s}\n${map('{a: x}')}`,
    `---\nkind: Secret\nmetadata: {name: s}\n${map('{a: x}')}`,
  ],
  ['nothing at all', '', '# The chart renders no object.\n', ''],
])('agreesWithBoth() for %s', (_case, manifest, first, second) => {
  expect(agreesWithBoth(manifest, first, second)).toBe(true);
});

test.each([
  ['another value', map('{a: old, t: "1"}'), map('{a: new, t: "2"}'), map('{a: new, t: "3"}')],
  ['a value less', map('{t: "1"}'), map('{a: x, t: "2"}'), map('{a: x, t: "3"}')],
  ['a value more', map('{a: x, b: y, t: "1"}'), map('{a: x, t: "2"}'), map('{a: x, t: "3"}')],
  ['another line', map('{a: "old\\n1"}'), map('{a: "new\\n2"}'), map('{a: "new\\n3"}')],
  ['a line behind a gap', PEM(['1', '2']).replace('seen: a', 'seen: b'), PEM(['3', '4']), PEM(['5', '6'])],
  [
    'a line between two gaps',
    map('{a: "1\\nold\\n2"}'),
    map('{a: "3\\nnew\\n4"}'),
    map('{a: "5\\nnew\\n6"}'),
  ],
  ['an object less', map('{a: x}'), map('{a: x}') + map('{}', 'other'), map('{a: x}') + map('{}', 'other')],
  [
    'an object more beside one whose name differs each time',
    map('{}', 'old') + map('{}', 'job-1'),
    map('{}', 'job-2'),
    map('{}', 'job-3'),
  ],
  [
    'a value in an object whose name differs each time',
    map('{a: old}', 'job-1'),
    map('{a: new}', 'job-2'),
    map('{a: new}', 'job-3'),
  ],
  ['another type', map('{a: {b: c}, t: 1}'), map('{a: x, t: 2}'), map('{a: x, t: 3}')],
  ['a shorter list', map('{l: [1], t: 1}'), map('{l: [1, 2], t: 2}'), map('{l: [1, 2], t: 3}')],
])('agreesWithBoth() notices %s', (_case, manifest, first, second) => {
  expect(agreesWithBoth(manifest, first, second)).toBe(false);
});
