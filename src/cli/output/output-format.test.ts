import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { createProgram } from '../run-cli.ts';
import { OUTPUT_FORMATS } from './output-format.ts';

const NOWHERE = { write: () => undefined };
const PROGRAM = createProgram(
  {
    env: {},
    cwd: '/',
    clock: new FakeClock(),
    stdout: NOWHERE,
    stderr: NOWHERE,
    stopSignal: () => new AbortController().signal,
  },
  () => Promise.resolve(),
);

/** All commands with their words. */
function commandsIn(command: Command, words: readonly string[]): readonly (readonly [string, Command])[] {
  const below = command.commands.flatMap((child) => commandsIn(child, [...words, child.name()]));
  return words.length === 0 ? below : [[words.join(' '), command], ...below];
}

function choicesOf(command: Command): readonly string[] | undefined {
  return command.options.find(({ long }) => long === '--output')?.argChoices;
}

const COMMANDS = commandsIn(PROGRAM, []);

/** Their formats are those of reports of tests and checks, such as JUnit. */
const isReport = (words: string): boolean => words.startsWith('hook ') || words === 'module lint';

test('the same formats are there everywhere, but for reports of hooks and checks', () => {
  const others = COMMANDS.flatMap(([words, command]) => {
    const choices = choicesOf(command);
    const isSame = choices === undefined || OUTPUT_FORMATS.every((format) => choices.includes(format));
    return isSame ? [] : [words];
  });
  expect(others.filter((words) => !isReport(words))).toEqual([]);
});

test('every list, and what explains, can be watched', () => {
  // What `hook test` watches is files.
  const watched = COMMANDS.filter(
    ([words, { options }]) => words !== 'hook test' && options.some(({ long }) => long === '--watch'),
  );
  expect(watched.map(([words]) => words)).toEqual([
    'status',
    'explain module',
    'module list',
    'module explain',
    'module versions',
    'module history',
    'module resource-monitor',
    'queue main',
    'queue list',
    'global list',
    'runs',
    'runs show',
    'next',
    'trace',
    'events',
    'config list',
  ]);
});
