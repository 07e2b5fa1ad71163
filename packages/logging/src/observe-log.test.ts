import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { createLogger } from './json-logger.ts';
import { type LogRecord, observeLog } from './observe-log.ts';

test('observeLog() shows every record with the fields of its children, and writes those of the level', () => {
  const lines: string[] = [];
  const records: LogRecord[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  const log = observeLog(
    createLogger({ level: 'info', type: 'json', hasTime: false, clock: systemClock, output }),
    (record) => records.push(record),
  );
  const child = log.child({ module: 'web' });
  child.debug({ hook: 'a' }, 'hook started');
  child.info({ durationMs: 3 }, 'hook finished');
  log.setLevel('warn');
  log.info({}, 'quiet');
  expect(log.level).toBe('warn');
  expect(lines).toEqual(['{"level":"info","module":"web","durationMs":3,"msg":"hook finished"}\n']);
  expect(records).toEqual([
    { level: 'debug', message: 'hook started', fields: { module: 'web', hook: 'a' } },
    { level: 'info', message: 'hook finished', fields: { module: 'web', durationMs: 3 } },
    { level: 'info', message: 'quiet', fields: {} },
  ]);
});
