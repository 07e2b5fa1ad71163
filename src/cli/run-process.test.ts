import { expect, test } from 'vitest';
import { ownCommand } from './run-process.ts';

const PATH = '/usr/local/bin:/usr/bin:/home/me/.npm/_npx/1/node_modules/.bin';

test.each([
  { started: undefined, command: 'addon-operator' },
  { started: 'addon-operator', command: 'addon-operator' },
  { started: '/usr/local/bin/addon-operator', command: 'addon-operator' },
  { started: '/opt/bin/addon-operator', command: '/opt/bin/addon-operator' },
  { started: '/usr/bin/operator', command: '/usr/bin/operator' },
  { started: 'bin/addon-operator', command: 'bin/addon-operator' },
  { started: '../my operator/bin/addon-operator', command: "'../my operator/bin/addon-operator'" },
  {
    started: '/home/me/.npm/_npx/1/node_modules/.bin/addon-operator',
    command: '/home/me/.npm/_npx/1/node_modules/.bin/addon-operator',
  },
])('a program that was started as $started is started again by $command', ({ started, command }) => {
  expect(ownCommand(started, PATH)).toBe(command);
});
