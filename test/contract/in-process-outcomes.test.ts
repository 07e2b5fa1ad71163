import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { NO_BINDINGS } from '../support/hook-configs.ts';
import { startInProcessHooks } from '../support/in-process-hooks.ts';

const LOAD_MS = 60_000;
const INPUTS = { bindingContext: '[]', values: '{}', configValues: '{}' };
const never = new AbortController().signal;
const hooks = startInProcessHooks();

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'in-process-outcomes-'));
});
afterEach(() => rm(root, { recursive: true }));
afterAll(() => hooks.stop());

test.each([
  [
    "throw new TemporaryError('waiting for DNS', { after: '30s' });",
    { code: 'HOOK_TEMPORARY', retryAfterMs: 30_000 },
    "global hook 'a.ts' is not done yet: waiting for DNS",
  ],
  [
    "throw new PermanentError('no such zone');",
    { code: 'HOOK_PERMANENT', isPermanent: true },
    "global hook 'a.ts' failed permanently: no such zone",
  ],
  [
    "throw Object.assign(new Error('not ours'), { name: 'TemporaryError' });",
    { code: 'HOOK_FAILED', retryAfterMs: undefined },
    "global hook 'a.ts' failed: TemporaryError: not ours",
  ],
])('what a handler throws says whether to retry the run: %s', async (body, expected, message) => {
  const path = join(root, 'a.ts');
  await writeFile(
    path,
    `import { defineHook, PermanentError, TemporaryError } from 'addon-operator/sdk';
export default defineHook({ onStartup: 1 }, () => { void [PermanentError, TemporaryError]; ${body} });`,
  );
  await hooks.load(path, LOAD_MS, silentLogger, never);
  const hook = {
    name: 'a.ts',
    path,
    transport: 'in-process',
    owner: { type: 'global' },
    config: NO_BINDINGS,
  } as const;
  const error = await hooks.run(hook, INPUTS, silentLogger, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject(expected);
  expect(String(error)).toContain(message);
});
