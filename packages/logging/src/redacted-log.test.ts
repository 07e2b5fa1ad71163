import { OperatorError } from '@addon-operator/base/errors';
import { Redactor } from '@addon-operator/masking/redactor';
import { expect, test } from 'vitest';
import { JumpClock } from '../../../test/support/jump-clock.ts';
import { createLogger } from './json-logger.ts';
import { redactedLog } from './redacted-log.ts';

function lab() {
  const lines: string[] = [];
  const redactor = new Redactor();
  redactor.add('hunter2');
  const output = { write: (line: string) => void lines.push(line) };
  const root = createLogger({ level: 'info', type: 'json', hasTime: false, clock: new JumpClock(), output });
  return { lines, log: redactedLog(root, redactor), root };
}

test('messages, fields, fields of children and errors contain no secret', () => {
  const { lines, log } = lab();
  const child = log.child({ bound: 'x hunter2' });
  child.info({ list: ['hunter2'], error: new Error('no', { cause: new Error('hunter2') }) }, 'said hunter2');
  expect(lines.join('')).not.toContain('hunter2');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    bound: 'x ***',
    list: ['***'],
    error: 'no: ***',
    msg: 'said ***',
  });
});

test('an error keeps its code, when its message is redacted', () => {
  const { lines, log } = lab();
  log.error({ error: new OperatorError('HOOK_FAILED', 'no hunter2') }, 'failed');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: 'no ***', code: 'HOOK_FAILED' });
});

test('an error without a secret keeps its stack, and the level is that of the log below', () => {
  const { lines, log, root } = lab();
  log.setLevel('warn');
  expect(root.level).toBe('warn');
  expect(log.level).toBe('warn');
  log.warn({ error: new Error('plain') }, 'failed');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: 'plain', stacktrace: expect.any(Array) });
});
