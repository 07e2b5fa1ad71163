import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowModule, HookLog } from 'addon-operator/sdk';
import { tell } from '../flow-hooks/tell.ts';

const module: FlowModule = {
  name: 'logging',
  path: '/modules/001-logging',
  version: null,
  isEnabled: true,
  phase: 'Succeeded',
  operation: null,
  lastReconcileMs: 0,
  lastError: '',
  reconcileEvery: '20s',
  release: { revision: 1, digest: null },
};

async function reported(error: string | undefined): Promise<readonly string[]> {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const log: HookLog = { debug: say, info: say, warn: say, error: say };
  const { signal } = new AbortController();
  const result = await tell.hook({ type: 'End', module, target: { namespace: 'a' }, error, log, signal });
  assert.equal(result, undefined);
  return lines;
}

await test('a success is reported with the phase', async () => {
  assert.deepEqual(await reported(undefined), ['logging: Succeeded']);
});

await test('a failure is reported with its reason', async () => {
  assert.deepEqual(await reported('no disk'), ['logging: no disk']);
});
