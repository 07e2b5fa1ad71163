import { systemClock } from '@addon-operator/base/clock';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { JqProcess } from '@addon-operator/jq/engines/jq-process';
import { findExecutable } from '@addon-operator/process/executable-file';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AskJq, askBuiltin } from '../../packages/jq/test/ask-jq.ts';
import { JQ_DIFFERENCES } from '../../packages/jq/test/differences.ts';
import { readResponses } from '../../packages/jq/test/read-responses.ts';
import { askBinary, askBinaryAll } from '../support/jq/ask-binary.ts';
import { jqForTests } from '../support/jq/jq-program.ts';

const never = new AbortController().signal;
const builtin = askBuiltin();
const systemJq = findExecutable('jq', process.env['PATH'] ?? '');
const jqFile = await jqForTests();

describe.skipIf(jqFile === undefined)('jq 1.8.2', () => {
  let ask: AskJq;
  beforeAll(() => {
    ask = askBinary(jqFile ?? '');
  });

  test('returns the results that the built-in engine is compared with', async () => {
    const rows = readResponses();
    const real = await askBinaryAll(jqFile ?? '', rows, ({ response }) => response);
    const asked = rows.map((row, index) => ({ ...row, real: real[index] }));
    expect(asked.filter((row) => row.real !== row.response)).toEqual([]);
  });

  test.each(JQ_DIFFERENCES)('differs from others as the table says: $topic', async (row) => {
    expect(await ask(row.program, row.input)).toBe(row.responses['jq 1.8']);
  });
});

test.each(JQ_DIFFERENCES)(
  'the built-in engine differs from others as the table says: $topic',
  async (row) => {
    expect(await builtin(row.program, row.input)).toBe(row.responses['built-in']);
  },
);

describe('the jq of PATH', async () => {
  const version = systemJq === undefined ? '' : await versionOf(systemJq);

  test.skipIf(!version.startsWith('jq-1.6')).each(JQ_DIFFERENCES)(
    'differs from others as the table says: $topic',
    async (row) => {
      expect(await askBinary(systemJq ?? '')(row.program, row.input)).toBe(row.responses['jq 1.6']);
    },
  );
});

async function versionOf(file: string): Promise<string> {
  const child = new JqProcess({ file, args: ['--version'], clock: systemClock, timeLimitMs: 10_000 });
  try {
    return await child.query('', never);
  } finally {
    await child.stop();
  }
}

/** Small programs over the values that {@link inputs} makes. One key only: of several the order may differ. */
const { program: programs } = fc.letrec<{ program: string; term: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      '.',
      '.a',
      '.b?',
      '.[]?',
      '.[0]?',
      '.[1:]?',
      '..',
      'null',
      '1',
      '"a"',
      '[]',
      '{}',
      'empty',
    ),
    fc.constantFrom(
      'keys?',
      'length?',
      'type',
      'tojson',
      'add?',
      'not',
      'first(.[]?)',
      'map(.)?',
      'to_entries?',
    ),
    fc.constantFrom(
      'tostring',
      'sort?',
      'unique?',
      'flatten?',
      'reverse?',
      'any?',
      'min?',
      '[paths]',
      '[..]',
    ),
    tie('program').map((inner) => `(${inner})`),
    tie('program').map((inner) => `[${inner}]`),
    tie('program').map((inner) => `{a: (${inner})}`),
    tie('program').map((inner) => `first(${inner})`),
    tie('program').map((inner) => `[limit(2; ${inner})]`),
    tie('program').map((inner) => `(try (${inner}) catch .)`),
    tie('program').map((inner) => `"x\\(${inner})"`),
  ),
  program: fc.oneof(
    { maxDepth: 3 },
    tie('term'),
    fc
      .tuple(tie('term'), fc.constantFrom('|', ',', '//', '+', '-', '*', '==', '<', 'and', 'or'), tie('term'))
      .map((parts) => parts.join(' ')),
    fc.tuple(tie('term'), tie('term')).map(([condition, then]) => `if ${condition} then ${then} end`),
    fc.tuple(tie('term'), tie('term')).map(([source, body]) => `${source} as $x | [$x, ${body}]`),
    fc
      .tuple(tie('term'), tie('term'))
      .map(([source, body]) => `reduce ${source} as $x (0; [., $x, ${body}] | length)`),
    fc
      .tuple(tie('term'), fc.constantFrom('=', '|=', '+=', '//='))
      .map(([value, sign]) => `(.a? ${sign} ${value})`),
  ),
}));
const inputs = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, 1, -2.5, '', 'a', 'zé🙂'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constant('a'), tie('value'), { noNullPrototype: true }),
  ),
})).value;

/** Pieces of JSON in any order, now and then a text that is JSON. */
const jsonTexts = fc
  .array(
    fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '"a"',
      '1',
      '-0.5',
      ' ',
      '\n',
      'x',
      'nan',
      'null',
      '"\\u',
      'é',
      "'",
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((pieces) => pieces.join(''));

describe.skipIf(jqFile === undefined)('of small random programs and texts', () => {
  test('jq 1.8.2 and the built-in engine return the same results', async () => {
    const questions = fc.record({ program: programs, input: inputs.map((input) => JSON.stringify(input)) });
    await fc.assert(
      fc.asyncProperty(fc.array(questions, { minLength: 10, maxLength: 20 }), async (asked) => {
        const ours = await mapParallel(asked, 1, async (one) => await builtin(one.program, one.input));
        const expected = new Map(asked.map((one, index) => [one, ours[index] ?? '']));
        const theirs = await askBinaryAll(jqFile ?? '', asked, (one) => expected.get(one) ?? '');
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 40 },
    );
  });

  test('jq 1.8.2 and the built-in engine parse the same input as JSON, and reject the rest with the same messages', async () => {
    const ask = askBinary(jqFile ?? '');
    const program = '[.[] | try (fromjson | tojson) catch .]';
    await fc.assert(
      fc.asyncProperty(fc.array(jsonTexts, { minLength: 30, maxLength: 60 }), async (texts) => {
        const input = JSON.stringify(texts);
        expect(JSON.parse(await builtin(program, input))).toEqual(JSON.parse(await ask(program, input)));
      }),
      { numRuns: 60 },
    );
  });
});
