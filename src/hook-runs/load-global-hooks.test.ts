import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { GlobalHooks } from '../model/global-hooks.ts';
import { ModuleRegistry } from '../model/module-registry.ts';
import { warnOfNothingToDo } from './load-global-hooks.ts';

test.each([
  [true, /nothing to do: write the first one into these directories, it takes effect at once$/],
  [false, /nothing to do: copy them into the image, or mount them at these directories$/],
])('an operator without modules and hooks says what to do, with watchesFiles %s', (watchesFiles, text) => {
  const log = new CapturedLog(systemClock);
  const operator = { registry: new ModuleRegistry([], () => false), globalHooks: new GlobalHooks() };
  const directories = { modulesDirs: ['/modules'], globalHooksDir: '/global-hooks' };
  warnOfNothingToDo(operator, { ...directories, watchesFiles }, log.logger);
  expect(log.records).toMatchObject([{ level: 'warn', ...directories, msg: expect.stringMatching(text) }]);
});
