import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kubeconfigText } from '../../packages/kube-sandbox/src/sandbox.ts';
import { ToolBench } from '../contract/sandbox/sandbox-lab.ts';
import { writeWebChart } from '../contract/sandbox/web-chart.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { COMMAND_FILES } from './differential/commands.ts';
import { normalise } from './differential/normalise.ts';
import { type RawClient, type RawRequest, type RawResponse, rawClient } from './differential/raw-client.ts';
import { type RecordingProxy, startRecordingProxy } from './differential/recording-proxy.ts';

const never = new AbortController().signal;

interface Recording {
  readonly name: string;
  readonly namespace: string;
  readonly record: (bench: ToolBench, namespace: string) => Promise<void>;
}

function release(major: 3 | 4): Recording['record'] {
  return async (bench, namespace) => {
    const chart = await writeWebChart(bench);
    const upgrade = [
      'upgrade',
      '--install',
      'web',
      chart,
      '-n',
      namespace,
      '--no-hooks',
      '--set',
      'replicas=0',
    ];
    await bench.helm(major, ...upgrade, '--create-namespace');
    await bench.helm(major, ...upgrade, '--set', 'greeting=bye');
    await bench.helm(major, 'rollback', 'web', '1', '-n', namespace, '--no-hooks');
    await bench.helm(major, 'history', 'web', '-n', namespace);
    await bench.helm(major, 'uninstall', 'web', '-n', namespace, '--no-hooks');
  };
}

const RECORDINGS: readonly Recording[] = [
  { name: 'helm 3', namespace: 'recorded-helm-3', record: release(3) },
  { name: 'helm 4', namespace: 'recorded-helm-4', record: release(4) },
  {
    name: 'kubectl',
    namespace: 'recorded-kubectl',
    record: async (bench, namespace) => {
      for (const [name, text] of Object.entries(COMMAND_FILES)) await bench.file(name, text);
      const commands = [
        ['create', 'namespace', namespace],
        ['create', 'configmap', 'a', '--from-literal=a=1'],
        ['create', 'secret', 'generic', 's', '--from-literal=a=1'],
        ['create', 'serviceaccount', 'runner'],
        ['apply', '-f', `${bench.directory}/first.yaml`],
        ['apply', '-f', `${bench.directory}/second.yaml`],
        ['apply', '--server-side', '--force-conflicts', '-f', `${bench.directory}/first.yaml`],
        ['scale', 'deployment', 'web', '--replicas=0'],
        ['label', 'configmap', 'a', 'team=blue'],
        ['auth', 'can-i', 'create', 'pods'],
        ['delete', '-f', `${bench.directory}/first.yaml`, '--wait=false'],
      ];
      for (const command of commands) await bench.kubectl('-n', namespace, ...command);
    },
  },
];

describeCluster('requests recorded from the real tools', (cluster) => {
  let sandbox: Sandbox;
  let proxy: RecordingProxy;
  let bench: ToolBench;

  beforeEach(async () => {
    sandbox = await startSandbox({ clock: systemClock, log: silentLogger }, never);
    proxy = await startRecordingProxy(sandbox.url);
    bench = await ToolBench.create(kubeconfigText(proxy.url));
  });

  afterEach(async () => {
    await proxy.stop();
    await sandbox.stop();
    await bench.remove();
  });

  test.each(RECORDINGS)('get the same responses: $name', async ({ record, namespace }) => {
    await record(bench, namespace);
    const requests = proxy.requests.filter(isRepeatable);
    const fresh = await startSandbox({ clock: systemClock, log: silentLogger }, never);
    try {
      const ours = await replay(rawClient({ serverUrl: fresh.url }), requests);
      const theirs = await replay(rawClient(cluster().access), requests);
      expect(requests.length).toBeGreaterThan(20);
      for (const [index, { method, path }] of requests.entries()) {
        const title = `${index}: ${method} ${path}`;
        expect({ title, ...ours[index] }).toEqual({ title, ...theirs[index] });
      }
    } finally {
      await fresh.stop();
    }
  });
});

/**
 * What one server chose means nothing to another: revisions to watch from or to patch at, hashes of documents. OpenAPI
 * version 2 is protobuf alone; the sandbox does without, for every client does.
 */
function isRepeatable({ path, body }: RawRequest): boolean {
  const carriesRevision = body !== undefined && Buffer.from(body).includes('resourceVersion');
  const isForeign = ['watch=true', 'hash=', '/openapi/v2'].some((part) => path.includes(part));
  return !isForeign && !carriesRevision;
}

async function replay(client: RawClient, requests: readonly RawRequest[]): Promise<readonly object[]> {
  const replies: object[] = [];
  for (const request of requests) {
    // The sandbox answers JSON to those who would rather have protobuf.
    const accept = (request.accept ?? '').replace('application/vnd.kubernetes.protobuf,', '');
    replies.push(comparedPart(await client({ ...request, accept }), request));
  }
  return replies;
}

/** Objects and failures are compared whole, documents about the server and tables by their status. */
function comparedPart({ status, body }: RawResponse, { path, accept = '' }: RawRequest): object {
  const isAboutServer = /^\/(?:api|apis|version|openapi\/.*)(?:\/v1)?(?:\?|$)/.test(path);
  if (isAboutServer || accept.includes('as=Table') || !isObject(body)) return { status };
  return { status, body: normalise(body) };
}
