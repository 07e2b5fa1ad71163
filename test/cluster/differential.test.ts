import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { APPLY_SCRIPTS } from './differential/apply-scripts.ts';
import { EVENT_SCRIPTS } from './differential/event-scripts.ts';
import { KIND_SCRIPTS } from './differential/kind-scripts.ts';
import { commonWarnings, normalise } from './differential/normalise.ts';
import { type RawClient, type RawResponse, rawClient } from './differential/raw-client.ts';
import { REQUEST_SCRIPTS } from './differential/request-scripts.ts';
import type { Script, ScriptStep } from './differential/script.ts';
import { WRITE_SCRIPTS } from './differential/write-scripts.ts';

const SCRIPTS = [...REQUEST_SCRIPTS, ...WRITE_SCRIPTS, ...KIND_SCRIPTS, ...EVENT_SCRIPTS, ...APPLY_SCRIPTS];

describeCluster('the same requests to the sandbox and to a real API server', (cluster) => {
  let sandbox: Sandbox;
  let toSandbox: RawClient;
  let toCluster: RawClient;

  beforeAll(async () => {
    sandbox = await startSandbox({ clock: systemClock, log: silentLogger }, new AbortController().signal);
    toSandbox = rawClient({ serverUrl: sandbox.url });
    toCluster = rawClient(cluster().access);
  });

  afterAll(() => sandbox.stop());

  test.each(SCRIPTS.map((script, index) => ({ ...script, index })))(
    'get the same responses: $name',
    async (script) => {
      const namespace = `differential-${script.index}`;
      const [ours, theirs] = await Promise.all([
        play(toSandbox, script, namespace),
        play(toCluster, script, namespace),
      ]);
      for (const [index, step] of script.steps.entries()) {
        const title = `${index}: ${step.method} ${step.path}`;
        expect({ title, ...ours[index] }).toEqual({ title, ...theirs[index] });
      }
    },
  );
});

async function play(client: RawClient, script: Script, namespace: string): Promise<readonly object[]> {
  const fill = (text: string): string => text.replaceAll('{ns}', namespace);
  await client({
    method: 'POST',
    path: '/api/v1/namespaces',
    contentType: 'application/json',
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
  });
  const replies: object[] = [];
  for (const step of script.steps) {
    const body = typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
    const response = await client({
      method: step.method,
      path: fill(step.path),
      ...(step.accept === undefined ? {} : { accept: step.accept }),
      ...(step.contentType === undefined ? {} : { contentType: step.contentType }),
      ...(body === undefined ? {} : { body: fill(body) }),
    });
    replies.push(comparedPart(response, step));
  }
  return replies;
}

function comparedPart({ status, warnings, body }: RawResponse, { compare = 'all' }: ScriptStep): object {
  if (compare === 'status') return { status };
  if (compare === 'reason') return { status, reason: isObject(body) ? (body['reason'] ?? '') : '' };
  return { status, warnings: commonWarnings(warnings), body: normalise(body) };
}
