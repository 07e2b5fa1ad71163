import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DeployError, errorDetails, type HookLog } from 'addon-operator/sdk';
import { ConfigMapExtensions } from '../customizations/core/config-map.ts';

const ignore = (): void => undefined;
const log: HookLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'team-a' } };
const missing: DeployError = { code: 'HELM_FAILED', status: 404, reason: 'NotFound', message: 'no', object };

async function classified(failure: DeployError): Promise<unknown> {
  const byDefault = errorDetails('fatal', failure.reason, failure.message);
  return new ConfigMapExtensions().classifyError(failure, () => Promise.resolve(byDefault), 'v1', log);
}

await test('a missing namespace is waited for', async () => {
  const expected = errorDetails('retryable', 'NotFound', 'namespace team-a is still to be made');
  assert.deepEqual(await classified(missing), expected);
});

await test('all other errors are what they are by default', async () => {
  const invalid = { ...missing, status: 422, reason: 'Invalid' };
  assert.deepEqual(await classified(invalid), errorDetails('fatal', 'Invalid', 'no'));
});
