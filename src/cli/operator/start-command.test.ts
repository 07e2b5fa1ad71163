import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { withTerminationMessage, writeTerminationMessage } from './start-command.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'termination-'));
  file = join(directory, 'termination-log');
});

afterEach(() => rmSync(directory, { recursive: true }));

test('a fatal record replaces the termination message with its text and error, other records do not', () => {
  writeFileSync(file, 'of an earlier container');
  const log = withTerminationMessage(new CapturedLog(new FakeClock()).logger, file);
  log.error({ error: 'small' }, 'a hook failed');
  expect(readFileSync(file, 'utf8')).toBe('of an earlier container');
  log.child({ module: 'web' }).fatal({ error: "path '/modules' does not exist" }, 'the daemon cannot start');
  expect(readFileSync(file, 'utf8')).toBe("the daemon cannot start: path '/modules' does not exist");
  log.fatal({ error: new OperatorError('MODULE_INVALID', 'broken') }, 'ended');
  expect(readFileSync(file, 'utf8')).toBe('ended: broken');
});

test('the message is cut at what the kubelet shows', () => {
  writeFileSync(file, '');
  writeTerminationMessage('x'.repeat(10_000), file);
  expect(readFileSync(file, 'utf8')).toHaveLength(4096);
});

test('outside of a pod nothing is created', () => {
  writeTerminationMessage('reason', file);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});
