import { expect, test } from 'vitest';
import { COMMAND_PAGES, commandBlocksOf } from '../docs/command-blocks.ts';
import { COMMAND_SCENARIOS } from '../docs/command-scenarios.ts';
import { DELIVERY_COMMANDS } from '../docs/tours/delivery.ts';
import { POD_COMMANDS } from '../docs/tours/pods.ts';

const blocks = COMMAND_PAGES.flatMap(commandBlocksOf);
const namesOf = (type: 'run' | 'output'): string[] =>
  blocks.flatMap(({ mark }) => (mark.type === type ? [mark.name] : []));

test.each(COMMAND_PAGES)('every block of commands in %s names what runs it, or why nothing can', (page) => {
  const unmarked = commandBlocksOf(page).filter(({ mark }) => mark.type === 'none');
  expect(unmarked.map(({ text }) => text)).toEqual([]);
});

test('every block of commands is run by one scenario, and every scenario runs what a page shows', () => {
  const run = [...COMMAND_SCENARIOS.flatMap(({ runs }) => runs), ...POD_COMMANDS, ...DELIVERY_COMMANDS];
  expect(namesOf('run').toSorted()).toEqual(run.toSorted());
});

test('every output belongs to commands', () => {
  expect(namesOf('run')).toEqual(expect.arrayContaining(namesOf('output')));
});
