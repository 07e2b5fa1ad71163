import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Json } from '@addon-operator/json';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { startExtensionRuntime } from '../../../test/support/extension-runtime.ts';

const SDK = join(import.meta.dirname, '../../../packages/sdk/src/host-api.ts');
const never = new AbortController().signal;
const { platform } = process;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'worker-pools-'));
});
afterEach(async () => {
  Object.defineProperty(process, 'platform', { value: platform });
  await rm(root, { recursive: true });
});

// Elsewhere than on Linux there are no sockets without a file, and so no lines.
test.each(['linux', 'darwin'])(
  'work, questions and the end of a worker find their way on %s',
  async (name) => {
    Object.defineProperty(process, 'platform', { value: name });
    const log = new CapturedLog(systemClock);
    const started = startExtensionRuntime();
    try {
      const path = join(root, 'a.mjs');
      await writeFile(
        path,
        `import { extensionDefinition } from ${JSON.stringify(SDK)};
export default extensionDefinition({ type: 'test', description: null, methods: {
  ask: async ({ args, next }) => { if (args[0] % 2 === 0) console.log('before', args[0]); return [await next(args[0])]; },
  wait: ({ signal }) => { console.log('waits'); return new Promise((resolve) => signal.addEventListener('abort', () => resolve('told'))); },
  exit: () => process.exit(4),
} });`,
      );
      await started.runtime.load(path, log.logger, never);
      const call = (method: string, args: readonly Json[] = [], signal = never): Promise<unknown> =>
        started.runtime.call(
          {
            path,
            method,
            args,
            next: async ([n]) => `${JSON.stringify(n)}!`,
            returns: 'value',
            log: log.logger,
          },
          signal,
        );
      for (const n of [1, 2, 3, 4]) expect(await call('ask', [n])).toEqual([`${n}!`]);
      expect(log.printed).toEqual(['before 2', 'before 4']);
      const stopped = new AbortController();
      const waiting = call('wait', [], stopped.signal).catch(messageOf);
      await log.untilPrinted('waits');
      stopped.abort(new Error('enough'));
      expect(await waiting).toBe('enough');
      expect(await call('exit').catch(messageOf)).toMatch(/it called process\.exit\(4\)$/);
      expect(await call('ask', [5])).toEqual(['5!']);
    } finally {
      await started.stop();
    }
  },
);
