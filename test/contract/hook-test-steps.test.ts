import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type HookTestOptions, runHookTest } from '../support/hook-test-command.ts';
import { startLoopbackServer } from '../support/loopback-server.ts';
import { type FileTree, shHook, writeTree } from '../support/world-files.ts';

const PODS = `kubernetes:
- {name: pods, apiVersion: v1, kind: Pod, executeHookOnSynchronization: false, jqFilter: .status.phase}`;
const MARK = `echo '{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mark", "namespace": "shop"}, "data": {"a": "b"}}}' > "$KUBERNETES_PATCH_PATH"`;

const WEBHOOKS = `kubernetesValidating:
- name: keys.policy.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
kubernetesMutating:
- name: labels.policy.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]`;
const PATCH = Buffer.from('[{"op": "add", "path": "/data/by", "value": "hook"}]').toString('base64');
const WEBHOOK_BODY = `case $(cat "$BINDING_CONTEXT_PATH") in
*'"weak"'*) echo '{"allowed": false, "message": "2048 bits are needed"}' > "$VALIDATING_RESPONSE_PATH" ;;
*'"silent"'*) ;;
*'"Mutating"'*) echo '{"allowed": true, "warnings": ["old"], "patch": "${PATCH}"}' > "$ADMISSION_RESPONSE_PATH" ;;
*) echo '{"allowed": true}' > "$VALIDATING_RESPONSE_PATH" ;;
esac`;

const CONVERSION = `kubernetesCustomResourceConversion:
- name: gadgets
  crdName: gadgets.example.com
  conversions: [{fromVersion: example.com/v1alpha1, toVersion: example.com/v1beta1}, {fromVersion: example.com/v1beta1, toVersion: example.com/v1}]`;
const CONVERSION_BODY = `node -e 'const [{ toVersion, review }] = JSON.parse(fs.readFileSync(process.env.BINDING_CONTEXT_PATH));
const convertedObjects = review.request.objects.map((object) => ({ ...object, apiVersion: toVersion, via: [...(object.via ?? []), toVersion] }));
const bad = review.request.objects.some(({ metadata }) => metadata.name === "bad");
fs.writeFileSync(process.env.CONVERSION_RESPONSE_PATH, JSON.stringify(bad ? { failedMessage: "bad gadget" } : { convertedObjects }));'`;

const pod = (name: string, phase = 'Pending'): string =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, namespace: shop}, spec: {containers: [{name: a, image: a}]}, status: {phase: ${phase}}}`;

const SNAPSHOT_TESTS = `hook: ../global-hooks/pods.sh
cluster: [${pod('web')}]
cases:
- name: whole picture
  steps:
  - start
  - {status: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, status: {phase: Failed}}, expect: snapshot}
- name: another
  steps: [{start: {}, expect: {snapshot: true, runs: 0}}]
`;

const FILES: FileTree = {
  'global-hooks/pods.sh': shHook(PODS, MARK),
  'global-hooks/webhooks.sh': shHook(WEBHOOKS, WEBHOOK_BODY),
  'global-hooks/conversion.sh': shHook(CONVERSION, CONVERSION_BODY),
  'global-hooks/client.sh': shHook(
    'onStartup: 1',
    `node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/pods").then(({ status }) => { console.log("status", status); });'`,
  ),
  'modules/010-web/openapi/config-values.yaml':
    'type: object\nproperties:\n  size: {type: string, default: small}\n',
  'modules/010-web/hooks/size.sh': shHook(
    'onStartup: 1\nbeforeHelm: 1',
    `if grep -q beforeHelm "$BINDING_CONTEXT_PATH"; then echo '[{"op": "add", "path": "/web/seen", "value": true}]' > "$VALUES_JSON_PATCH_PATH"; fi`,
  ),
  'steps/status.hook-test.yaml': `hook: ../global-hooks/pods.sh
cluster: [${pod('web')}]
cases:
- name: status
  steps:
  - start
  - {status: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, status: {phase: Failed}}, expect: {runs: 1, contexts: [{filterResult: Failed}], requests: []}}
- name: api is down, and comes back
  steps:
  - start
  - {api: down, expect: {runs: 0}}
  - {status: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, status: {phase: Failed}}, expect: {runs: 0}}
  - api: up
  - {advance: 1m, expect: {contexts: [{watchEvent: Modified, filterResult: Failed}]}}
- name: writes are refused
  steps:
  - start
  - api: {429: 1}
  - {status: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, status: {phase: Failed}}, expect: {outcome: failure, error: {$contains: 429 TooManyRequests}}}
  - {advance: 1m, expect: {runs: 1, objects: [{kind: ConfigMap, namespace: shop, name: mark, is: {metadata: {creationTimestamp: {$matches: "^2026-01-01T00:00:"}}}}]}}
`,
  'steps/client.hook-test.yaml': `hook: ../global-hooks/client.sh
cases:
- {name: requests, steps: [{start: {}, expect: {requests: [GET /api/v1/pods], output: {$contains: status 200}}}]}
- {name: requests that are refused, steps: [{api: down}, {start: {}, expect: {output: {$contains: status 503}}}]}
`,
  'steps/webhooks.hook-test.yaml': `hook: ../global-hooks/webhooks.sh
cases:
- name: denies
  steps:
  - {admission: {binding: keys.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: weak}}}, expect: {allowed: false, message: {$contains: "2048"}, runs: 1, contexts: [{type: Validating, review: {request: {operation: CREATE, resource: {resource: secrets}, userInfo: {username: kubernetes-admin}}}}]}}
  - admission: {binding: keys.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: strong}}}
- name: mutates
  steps:
  - {admission: {binding: labels.policy.example.com, operation: UPDATE, user: me, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}}, expect: {patched: {data: {a: b, by: hook}}, warnings: [old], contexts: [{review: {request: {userInfo: {username: me}}}}]}}
`,
  'steps/conversion.hook-test.yaml': `hook: ../global-hooks/conversion.sh
cases:
- name: converts in two steps
  steps:
  - {convert: {to: example.com/v1, objects: [{apiVersion: example.com/v1alpha1, kind: Gadget, metadata: {name: a}}]}, expect: {runs: 2, converted: [{apiVersion: example.com/v1, via: [example.com/v1beta1, example.com/v1]}]}}
  - {convert: {to: example.com/v1, objects: [{apiVersion: example.com/v1beta1, kind: Gadget, metadata: {name: bad}}]}, expect: {message: bad gadget}}
`,
  'global-hooks/deploys.sh': shHook(
    'afterLaunch: 1\nafterAuthFail: 1\nbeforeUninstall: 1',
    `node -p 'const [{ binding, module, release, authorization, attempt }] = JSON.parse(fs.readFileSync(process.env.BINDING_CONTEXT_PATH));
JSON.stringify([binding, module.name, module.version, release, authorization, attempt])'
if grep -q broken "$BINDING_CONTEXT_PATH"; then echo "no connection" >&2; exit 1; fi`,
  ),
  'steps/deploys.hook-test.yaml': `hook: ../global-hooks/deploys.sh
cases:
- name: deploys and removes
  steps:
  - {deploy: {binding: afterLaunch, module: {name: web, version: 1.2.0}, revision: 3}, expect: {runs: 1, output: {$contains: '["afterLaunch","web","1.2.0",{"previousRevision":2,"revision":3},null,1]'}}}
  - {deploy: {binding: beforeUninstall, module: {name: web}, revision: 3}, expect: {contexts: [{release: {previousRevision: 3}}]}}
  - {deploy: {binding: afterAuthFail, module: {name: web}, reason: expired}, expect: {contexts: [{authorization: {reason: expired, place: manifest}, release: null}]}}
- name: is not repeated when it fails
  steps:
  - {deploy: {binding: afterLaunch, module: {name: broken}}, expect: {outcome: failure, error: {$contains: no connection}}}
  - {advance: 1h, expect: {runs: 0}}
`,
  'failing/deploys.hook-test.yaml': `hook: ../global-hooks/deploys.sh
cases:
- {name: deploy, steps: [{deploy: {binding: beforeLaunch, module: {name: web}}}]}
`,
  'modules/010-web/tests/size.hook-test.yaml': `hook: hooks/size.sh
cases:
- name: values and restart
  steps:
  - {start: {}, expect: {values: {web: {size: small}}}}
  - {values: {web: {size: large}}, expect: {values: {web: {size: large}}, configValues: {web: {size: large}}}}
  - {run: beforeHelm, expect: {values: {web: {seen: true, size: large}}}}
  - restart
  - {values: {web: null}, expect: {values: {web: {size: small, seen: null}}}}
`,
  'failing/webhooks.hook-test.yaml': `hook: ../global-hooks/webhooks.sh
cases:
- {name: denial, steps: [{admission: {binding: keys.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: weak}}}}]}
- {name: permission, steps: [{admission: {binding: keys.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: a}}}, expect: {allowed: false}}]}
- {name: silence, steps: [{admission: {binding: keys.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: silent}}}}]}
- {name: rules, steps: [{admission: {binding: keys.policy.example.com, operation: UPDATE, object: {apiVersion: v1, kind: Secret, metadata: {name: a}}}}]}
- {name: binding, steps: [{admission: {binding: key.policy.example.com, object: {apiVersion: v1, kind: Secret, metadata: {name: a}}}}]}
- {name: conversion, steps: [{convert: {to: v1, objects: {kind: Gadget}}}]}
`,
  'failing/values.hook-test.yaml': `hook: ../modules/010-web/hooks/size.sh
cases:
- {name: schema, steps: [{values: {web: {size: 3}}}]}
- {name: start, steps: [start, start]}
`,
  'snapshots/pods.hook-test.yaml': SNAPSHOT_TESTS,
};

const WAIT = { timeout: 60_000, interval: 20 };

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-test-steps-'));
  await writeTree(directory, FILES);
});
afterAll(() => rm(directory, { recursive: true }));

async function hookTest(line: string, options: HookTestOptions = {}) {
  return await runHookTest(directory, line, options);
}

describe('steps of hook test', () => {
  test('change statuses and values, send requests to webhooks, restart the operator and take the API away', async () => {
    const { exitCode, stdout } = await hookTest('steps modules');
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/\n11 passed, 0 failed, 0 skipped\n$/)]);
  });

  test('fail for responses that are not expected, and for requests that the API server would not send', async () => {
    const { exitCode, stdout } = await hookTest('failing');
    for (const expected of [
      'the request is denied, and the step does not expect that (allowed: false): 2048 bits are needed',
      'the request is allowed, although it must be denied',
      "global hook 'webhooks.sh' wrote no response",
      'the API server does not call keys.policy.example.com for UPDATE of secrets in v1: its rules are [{',
      'the hook has no validating or mutating binding \'key.policy.example.com\' (did you mean "keys.policy.example.com"?)',
      'convert: the hook does not convert anything; it converts none',
      'size',
      'start: the hook was started in a step before',
    ])
      expect(stdout).toContain(expected);
    expect(stdout).toContain('0 passed, 9 failed');
    expect(exitCode).toBe(1);
  });
});

describe('snapshots of hook test', () => {
  const file = (): Promise<string> =>
    readFile(join(directory, 'snapshots/__snapshots__/pods.hook-test.yaml'), 'utf8');

  test('fail until they are stored, and when anything differs', async () => {
    const missing = await hookTest('snapshots');
    expect(missing.stdout).toContain('snapshot is not stored yet: --update stores what is below');
    expect(missing.stdout).toContain('filterResult: Failed');
    expect(missing.exitCode).toBe(1);

    expect(await hookTest('snapshots --update', { env: { CI: 'true' } })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--update is not used in CI'),
    });

    const stored = await hookTest('snapshots --update');
    expect(stored).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('snapshots/__snapshots__/pods.hook-test.yaml: written'),
    });
    expect(await file()).toContain('uid: <uid-1>');
    expect((await hookTest('snapshots')).exitCode).toBe(0);

    await writeTree(directory, { 'global-hooks/pods.sh': shHook(PODS, MARK.replace('"b"', '"c"')) });
    const changed = await hookTest('snapshots');
    expect(changed.stdout).toContain('snapshot.runs[0].operations[0].object.data.a\n      - b\n      + c\n');
    expect(changed.exitCode).toBe(1);

    await writeTree(directory, {
      'global-hooks/pods.sh': shHook(PODS, MARK),
      'snapshots/pods.hook-test.yaml': SNAPSHOT_TESTS.split('- name: another')[0] ?? '',
    });
    const obsolete =
      'obsolete snapshot in snapshots/__snapshots__/pods.hook-test.yaml: another > step 1, start';
    expect(await hookTest('snapshots')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(obsolete),
    });
    expect(await hookTest('snapshots', { env: { CI: '1' } })).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(obsolete),
    });
    await hookTest('snapshots --update');
    expect(await file()).not.toContain('another');
  });
});

test('a filter that matches no case is an error that names cases', async () => {
  const { exitCode, stderr } = await hookTest('steps --filter convert');
  expect([exitCode, stderr]).toEqual([0, '']);
  const none = await hookTest('steps --filter konvert');
  expect(none.exitCode).toBe(2);
  expect(none.stderr).toContain('--filter konvert: no case matches');
});

test('hooks over HTTP and in the process are tested like executables', async () => {
  const server = await startLoopbackServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ valuesPatch: [{ op: 'add', path: '/global/by', value: 'http' }] }));
  });
  onTestFinished(() => server.stop());
  await writeTree(directory, {
    'global-hooks/remote.http.yaml': `address: ${server.url}/hook\nonStartup: 1\n`,
    'global-hooks/local.ts': `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ onStartup: 1 }, ({ values }) => { values.set('global.by', 'thread'); });
`,
    'transports/remote.hook-test.yaml':
      'hook: ../global-hooks/remote.http.yaml\ncases:\n- {name: http, steps: [{start: {}, expect: {runs: 1, contexts: [{binding: onStartup}], values: {global: {by: http}}}}]}\n',
    'transports/local.hook-test.yaml':
      'hook: ../global-hooks/local.ts\ncases:\n- {name: thread, steps: [{start: {}, expect: {runs: 1, contexts: [{binding: onStartup}], values: {global: {by: thread}}}}]}\n',
  });
  const { exitCode, stdout } = await hookTest('transports', {
    env: { ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS: '127.0.0.1' },
  });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 passed, 0 failed')]);
});

test('runs at the same time are listed in the order in which they start', async () => {
  const queue = 'queue: {name: work, key: namespace, parallel: 2}';
  const object = (namespace: string): string =>
    `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ${namespace}}}`;
  await writeTree(directory, {
    'global-hooks/parallel.sh': shHook(
      `kubernetes: [{apiVersion: v1, kind: ConfigMap, nameSelector: {matchNames: [a]}, executeHookOnSynchronization: false, jqFilter: .metadata.namespace, ${queue}}]`,
      // The first one ends last.
      `if grep -q '"filterResult":"tea"' "$BINDING_CONTEXT_PATH"; then until [ -e ${directory}/cake ]; do :; done; echo tea
else echo cake; : > ${directory}/cake; fi`,
    ),
    'parallel/parallel.hook-test.yaml': `hook: ../global-hooks/parallel.sh
cases:
- {name: parallel, steps: [start, {apply: [${object('tea')}, ${object('cake')}], expect: {runs: 2, output: "tea\\ncake\\n"}}]}
`,
  });
  const { exitCode, stdout } = await hookTest('parallel');
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 passed, 0 failed')]);
});

test('--watch runs the tests again after a change, failed ones first, and ends with a signal', async () => {
  const hook = (text: string): string => shHook('onStartup: 1', `echo ${text}`);
  const tests = (name: string): string =>
    `hook: ../watched-hooks/${name}.sh\ncases:\n- {name: ${name}, steps: [{start: {}, expect: {output: {$contains: fine}}}]}\n`;
  await writeTree(directory, {
    'watched-hooks/a.sh': hook('fine'),
    'watched-hooks/b.sh': hook('broken'),
    'watched/a.hook-test.yaml': tests('a'),
    'watched/b.hook-test.yaml': tests('b'),
  });
  const stop = new AbortController();
  const said = { stdout: '', stderr: '' };
  const watching = hookTest('watched --watch', { stop: stop.signal, said });
  await vi.waitFor(
    () => expect(said.stdout).toContain('1 passed, 1 failed, 0 skipped\nwaiting for changes'),
    WAIT,
  );
  said.stdout = '';
  await writeTree(directory, { 'watched-hooks/b.sh': hook('fine') });
  await vi.waitFor(
    () => expect(said.stdout).toContain('2 passed, 0 failed, 0 skipped\nwaiting for changes'),
    WAIT,
  );
  expect(said.stdout.indexOf('ok b')).toBeLessThan(said.stdout.indexOf('ok a'));
  stop.abort(new Error('stopped by a signal'));
  expect(await watching).toMatchObject({ exitCode: 0, stderr: '' });
});

test('--coverage lists the bindings and events that no test has run, and fails below a limit', async () => {
  const all = await hookTest('steps --coverage');
  expect(all.stdout).toContain('pods.sh was not run for: pods Added, pods Deleted\n');
  expect(all.stdout).toContain('coverage of bindings: 6 of 8 (75 %)\n');
  expect(all.exitCode).toBe(0);
  const limited = await hookTest('steps --coverage=min:76');
  expect(limited.stdout).toContain('the coverage is below 76 % (--coverage)');
  expect(limited.exitCode).toBe(1);
  expect((await hookTest('steps --coverage=80')).stderr).toContain('--coverage must be min:PERCENT');
});
