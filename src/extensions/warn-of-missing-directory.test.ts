import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { systemClock } from '../lib/clock.ts';
import { warnOfMissingDirectory } from './warn-of-missing-directory.ts';

test('only a directory that is set and missing is warned of, with its flag', () => {
  const { logger, records } = new CapturedLog(systemClock);
  const missing = join(import.meta.dirname, 'missing');
  for (const directory of ['', import.meta.dirname, missing])
    warnOfMissingDirectory(directory, '--flow-hooks-dir', logger);
  expect(records).toMatchObject([{ level: 'warn', flag: '--flow-hooks-dir', directory: missing }]);
});
