import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { startExtensionRuntime } from '../../../test/support/extension-runtime.ts';
import { writeTree } from '../../../test/support/world-files.ts';
import { loadFlowHooks } from './load-flow-hooks.ts';

const started = startExtensionRuntime({});
afterAll(() => started.stop());

const HOOK = `import { defineFlowHooks } from 'addon-operator/sdk';
export default defineFlowHooks((hooks) => hooks.registerHook(() => undefined, 'Start'));
`;

test('loadFlowHooks() warns about files that export flow hooks but are not loaded', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flow-hooks-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeTree(root, {
    'pause.ts': HOOK,
    'pause.test.ts': HOOK,
    'pause.cts': HOOK,
    'night/pause.ts': HOOK,
    'lib/shared.ts': 'export const night = 22;',
  });
  const { logger, records } = new CapturedLog(systemClock);
  const setups = await loadFlowHooks(root, started.runtime, logger, new AbortController().signal);
  expect(setups).toHaveLength(1);
  const warned = records.filter(({ level }) => level === 'warn');
  expect(warned.map(({ path }) => relative(root, String(path)))).toEqual(['night/pause.ts', 'pause.cts']);
});

test('loadFlowHooks() loads nothing, when there is no directory', async () => {
  const { logger, records } = new CapturedLog(systemClock);
  const directory = join(tmpdir(), 'no-flow-hooks');
  expect(await loadFlowHooks(directory, started.runtime, logger, new AbortController().signal)).toEqual([]);
  expect(records).toEqual([]);
});

test('loadFlowHooks() loads hooks, when a file beside them cannot be read', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flow-hooks-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeTree(root, { 'pause.ts': HOOK });
  await symlink(join(root, 'gone.cjs'), join(root, 'link.cjs'));
  const { logger } = new CapturedLog(systemClock);
  expect(await loadFlowHooks(root, started.runtime, logger, new AbortController().signal)).toHaveLength(1);
});
