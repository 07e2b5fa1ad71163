import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runHookTest } from '../support/hook-test-command.ts';
import { type FileTree, shHook, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };

const SECRETS = `onStartup: 1
kubernetes:
- name: secrets
  apiVersion: v1
  kind: Secret
  namespace: {nameSelector: {matchNames: [shop]}}
  jqFilter: .metadata.name
schedule:
- {name: nightly, crontab: "0 3 * * *"}`;

const MADE = `echo '{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made", "namespace": "default"}, "data": {"by": "patch"}}}' > "$KUBERNETES_PATCH_PATH"
echo '{"name": "certificates", "set": 3, "labels": {"ns": "shop"}}' > "$METRICS_PATH"
echo '[{"op": "add", "path": "/global/issuer", "value": "internal"}]' > "$VALUES_JSON_PATCH_PATH"
echo "hello, $REGION"`;

const secret = (name: string): string =>
  `{apiVersion: v1, kind: Secret, metadata: {name: ${name}, namespace: shop}}`;

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`;

const retries = (state: string): string => `hook: ../global-hooks/fails.sh
cases:
- name: is repeated when time passes
  env: {STATE: ${state}}
  steps:
  - {start: {}, expect: {outcome: failure, error: {$contains: "no issuer"}}}
  - {advance: 1m, expect: {runs: 1, output: {$contains: issued}}}
- name: must not end with a run that is to be repeated
  env: {STATE: /proc/none}
  steps:
  - {start: {}, expect: {outcome: failure}}
`;

const FILES: FileTree = {
  'global-hooks/certificates.sh': shHook(SECRETS, MADE),
  'global-hooks/fails.sh': shHook(
    'onStartup: 1',
    'if [ -e "$STATE" ]; then echo "issued"; else touch "$STATE"; echo "no issuer" >&2; exit 3; fi',
  ),
  'global-hooks/debounces.sh': shHook(
    `kubernetes:
- {name: maps, kind: ConfigMap, executeHookOnSynchronization: false, debounce: {after: 10s}}`,
    'echo debounced',
  ),
  'debounced/events.hook-test.yaml': `hook: ../global-hooks/debounces.sh
cases:
- name: ends before the run for its events
  steps:
  - start
  - {apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}}
`,
  'global-hooks/hangs.sh': shHook(
    'onStartup: 1',
    'echo $$ > "$PID_FILE.new"; mv "$PID_FILE.new" "$PID_FILE"; exec sleep 600',
  ),
  'global-hooks/client.sh': shHook(
    'onStartup: 1',
    `node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/namespaces/shop/secrets/tls", { method: "DELETE" }).then(({ ok }) => process.exit(ok ? 0 : 1));'`,
  ),
  'modules/values.yaml': 'web:\n  replicas: 2\n',
  'modules/030-web/openapi/config-values.yaml':
    'type: object\nproperties:\n  replicas: {type: integer}\n  size: {type: string, default: small}\n',
  'modules/030-web/crds/gadget.yaml': CRD,
  'modules/030-web/hooks/gadgets.sh': shHook(
    'beforeHelm: 1\nkubernetes:\n- {name: gadgets, apiVersion: example.com/v1, kind: Gadget, queue: gadgets}',
    `echo '[{"op": "add", "path": "/web/replicas", "value": 5}]' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
  ),
  'tests/certificates.hook-test.yaml': `hook: global-hooks/certificates.sh
cluster: [${secret('old')}]
env: {REGION: eu}
cases:
- name: runs for a secret, for time that passes, and for its end
  steps:
  - start: {}
    expect: {runs: 2, contexts: [{binding: onStartup}, {binding: secrets, type: Synchronization, objects: [{filterResult: old}]}]}
  - apply: ${secret('tls')}
    expect:
      runs: 1
      contexts: [{binding: secrets, type: Event, watchEvent: Added, filterResult: tls}]
      operations: [{operation: CreateOrUpdate, object: {metadata: {name: made}}}]
      objects: [{kind: ConfigMap, namespace: default, name: made, is: {data: {by: patch}}}]
      values: {global: {issuer: internal}}
      metrics: [{name: certificates, labels: {ns: shop}, value: 3}]
      output: {$contains: "hello, eu"}
  - advance: 48h
    expect: {runs: 2, contexts: [{binding: nightly}, {binding: nightly}]}
  - tick: nightly
    expect: {contexts: [{binding: nightly, type: Schedule}]}
  - delete: ${secret('tls')}
    expect: {contexts: [{watchEvent: Deleted}], objects: []}
- name: begins with a cluster of its own
  steps:
  - start: {}
    expect: {objects: [{kind: ConfigMap, namespace: default, name: made}, {kind: Secret, namespace: shop, name: tls, absent: true}]}
`,
  'modules/030-web/tests/gadgets.hook-test.yaml': `hook: hooks/gadgets.sh
values: {web: {replicas: 4}}
cases:
- name: sets replicas
  steps:
  - {run: beforeHelm, expect: {values: {web: {replicas: 5, size: small}}, configValues: {web: {replicas: 5}}}}
- name: sees gadgets
  steps:
  - start
  - apply: [{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}, {apiVersion: example.com/v1, kind: Gadget, metadata: {name: b}}]
    expect: {contexts: {$unordered: [{object: {metadata: {name: a}}}, {object: {metadata: {name: b}}}]}}
`,
  'other/client.hook-test.yaml': `hook: ../global-hooks/client.sh
cases:
- name: sees what the hook does by itself
  cluster: [fixtures]
  steps:
  - {start: {}, expect: {objects: [{kind: Secret, namespace: shop, name: tls, absent: true}]}}
- {name: says what is not named, cluster: [fixtures], steps: [{start: {}, expect: {objects: []}}]}
- {name: says that a fixture is missing, cluster: [gone.yaml], steps: [start]}
`,
  'other/fixtures/shop.yaml': `${secret('tls')}\n`,
  'stopped/hangs.hook-test.yaml': `hook: ../global-hooks/hangs.sh
cases:
- {name: hangs, timeout: 1h, steps: [start]}
`,
  'global-hooks/issues.sh': shHook('onStartup: 1', 'openssl version; curl --version'),
  'global-hooks/in-process.ts':
    "import { defineHook } from 'addon-operator/sdk';\nexport default defineHook({ onStartup: 1 }, () => {});\n",
  'stubs/openssl.sh': '#!/bin/sh\necho "stubbed $1"\n',
  'stubbed/a.hook-test.yaml': `hook: ../global-hooks/issues.sh
stub: {openssl: ../stubs/openssl.sh, curl: echo "curl $1"}
cases:
- name: finds the programs of the file
  steps: [{start: {}, expect: {output: "stubbed version\\ncurl --version\\n"}}]
- name: finds a program of the case
  stub: {openssl: exit 7}
  steps: [{start: {}, expect: {output: "curl --version\\n"}}]
- {name: needs a file, stub: {openssl: stubs/none.sh}, steps: [start]}
- {name: needs a name, stub: {"../openssl": exit 7}, steps: [start]}
`,
  'stubbed/b.hook-test.yaml':
    'hook: ../global-hooks/in-process.ts\nstub: {curl: exit 7}\ncases: [{name: has no stubs, steps: [start]}]\n',
  'stubbed/c.hook-test.yaml':
    'hook: ../global-hooks/in-process.ts\nenv: {SIZE: "1"}\ncases: [{name: has no variables, steps: [start]}]\n',
  "global-hooks/it's.sh": shHook('onStartup: 1', 'echo done'),
  'wrap.sh': shHook('', 'echo "$@" >> wrapped.log\nexec "$@"'),
  'wrapped/a.hook-test.yaml': `hook: ../global-hooks/it's.sh
cases: [{name: is started by another program, steps: [{start: {}, expect: {output: "done\\n"}}]}]
`,
  'wrapped/b.hook-test.yaml':
    'hook: ../global-hooks/in-process.ts\ncases: [{name: is not, steps: [start]}]\n',
  'bad/a.hook-test.yaml': 'hook: gone.sh\ncases:\n- {name: a, steps: [start]}\n',
  'bad/b.hook-test.yaml': 'hok: gone.sh\n',
  'apart/fixtures/gadget.yaml': CRD,
  'apart/certificates.hook-test.yaml': `hook: ../global-hooks/certificates.sh
cases:
- name: changes the cluster, its kinds and its values
  steps:
  - start
  - apply: [fixtures/gadget.yaml, {apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}, ${secret('tls')}]
- name: begins without what others changed
  steps:
  - api: up
    expect:
      configValues: {global: null}
      objects:
      - {kind: ConfigMap, namespace: default, name: made, absent: true}
      - {kind: ConfigMap, namespace: addon-operator, name: addon-operator-modules, absent: true}
      - {kind: Namespace, name: shop, absent: true}
      - {kind: Namespace, name: default, is: {metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}}}
  - {apply: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}}
- name: begins with its own time and values
  now: 2026-05-01T10:00:00Z
  values: {global: {issuer: own}}
  steps:
  - api: up
    expect:
      configValues: {global: {issuer: own}}
      objects: [{kind: Namespace, name: default, is: {metadata: {creationTimestamp: "2026-05-01T10:00:00Z"}}}]
`,
  'empty/README.md': '',
  'empty-run/a.hook-test.yaml': 'hook: ../global-hooks/in-process.ts\ncases: [{name: a, steps: [start]}]\n',
};

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-test-'));
  await writeTree(directory, {
    ...FILES,
    'retries/fails.hook-test.yaml': retries(join(directory, 'state')),
  });
});
afterAll(() => rm(directory, { recursive: true }));

async function hookTest(line: string, stop = new AbortController().signal) {
  return await runHookTest(directory, line, { stop, env: { PID_FILE: join(directory, 'pid') } });
}

describe('hook test', () => {
  test('runs the tests of global hooks and of hooks of modules', async () => {
    const result = await hookTest('tests modules');
    expect(result).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `modules/030-web/tests/gadgets.hook-test.yaml
  ok sets replicas
  ok sees gadgets
tests/certificates.hook-test.yaml
  ok runs for a secret, for time that passes, and for its end
  ok begins with a cluster of its own
4 passed, 0 failed, 0 skipped
`,
    });
  });

  test('keeps what a case changes from those after it', async () => {
    const { exitCode, stdout } = await hookTest('apart');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /ok changes the cluster[^]*FAILED begins without what others changed\n {4}step 2, apply[^]*kind 'Gadget' is not supported by cluster[^]*ok begins with its own time and values\n2 passed, 1 failed/,
    );
  });

  test('sees what a hook changes by itself, and fails for what is not named', async () => {
    const { exitCode, stdout } = await hookTest('other');
    expect(stdout).toContain('ok sees what the hook does by itself');
    expect(stdout).toContain(`FAILED says what is not named
    step 1, start
    the hook deleted Secret shop/tls, which is not among the expected objects`);
    expect(stdout).toMatch(/FAILED says that a fixture is missing\n {4}cannot read .*gone\.yaml: ENOENT/);
    expect(exitCode).toBe(1);
  });

  test('starts hooks that are executables with the command of --wrap', async () => {
    const { exitCode, stdout } = await hookTest('wrapped --wrap ./wrap.sh');
    expect(stdout).toContain('2 passed, 0 failed, 0 skipped');
    expect(exitCode).toBe(0);
    const hook = join(directory, "global-hooks/it's.sh");
    expect(await readFile(join(directory, 'wrapped.log'), 'utf8')).toBe(`${hook}\n`);
    expect((await hookTest('wrapped --wrap gone')).stdout).toContain('gone: not found');
  });

  test('repeats a failed run when time passes, and fails for one that is left', async () => {
    const { exitCode, stdout } = await hookTest('retries');
    expect(stdout).toContain('ok is repeated when time passes');
    expect(stdout).toMatch(
      /at the end of the case the run for onStartup waits to be repeated: [^]*no issuer/,
    );
    expect(exitCode).toBe(1);
  });

  test('fails for events that are held back by debounce at the end of the case', async () => {
    const { exitCode, stdout } = await hookTest('debounced');
    expect(stdout).toContain('at the end of the case events of maps are held back by debounce');
    expect(exitCode).toBe(1);
  });

  test('ends with exit code 2 for files that cannot be used, and says why', async () => {
    const { exitCode, stdout } = await hookTest('bad');
    expect(stdout).toContain(`is not a hook: there is no such file`);
    expect(stdout).toContain('bad/b.hook-test.yaml:1: hok: unknown key (did you mean "hook"?)');
    expect(stdout).toContain('0 passed, 2 failed, 0 skipped');
    expect(exitCode).toBe(2);
  });

  test('ends with exit code 1 when there are no tests', async () => {
    expect(await hookTest('empty')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no tests in empty: files with tests end in .hook-test.yaml'),
    });
  });

  test('ends with the hook when it is interrupted', async () => {
    await rm(join(directory, 'pid'), { force: true });
    const stop = new AbortController();
    const running = hookTest('stopped', stop.signal);
    const pid = await vi.waitFor(async () => Number(await readFile(join(directory, 'pid'), 'utf8')), WAIT);
    stop.abort(new Error('stopped by a signal'));
    expect(await running).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('stopped by a signal'),
    });
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
  });

  test.each([
    ['junit', '<testsuite name="other/client.hook-test.yaml" tests="1" failures="1" skipped="0">'],
    ['tap', 'TAP version 14\n1..1\nnot ok 1 - other/client.hook-test.yaml: says what is not named'],
    ['github', '::error file=other/client.hook-test.yaml,title=says what is not named::step 1, start%0A'],
  ])('writes a report as %s, of the cases that are chosen', async (format, expected) => {
    const { exitCode, stdout } = await hookTest(`other -o ${format} --filter named`);
    expect(stdout).toContain(expected);
    expect(exitCode).toBe(1);
  });

  test('puts programs in place of those of the machine', async () => {
    const { exitCode, stdout } = await hookTest('stubbed');
    expect(stdout).toContain('ok finds the programs of the file\n  ok finds a program of the case');
    expect(stdout).toMatch(
      /FAILED needs a file\n +stub: openssl: there is no file .*stubbed\/stubs\/none\.sh/,
    );
    expect(stdout).toMatch(/FAILED needs a name\n +stub: '\.\.\/openssl' is not the name of a program/);
    expect(stdout).toMatch(/FAILED has no stubs\n +stub: only a hook that is an executable/);
    expect(stdout).toMatch(/FAILED has no variables\n +env: only a hook .* SIZE has no effect here/);
    expect(exitCode).toBe(1);
  });

  test('writes reports to files beside the output, of cases whose names match', async () => {
    const line = 'other --filter /^says.*missing$/ --report junit=a.xml --report tap=b.tap';
    const { exitCode, stdout } = await hookTest(line);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('0 passed, 1 failed, 0 skipped')]);
    expect(await readFile(join(directory, 'a.xml'), 'utf8')).toContain('tests="1" failures="1"');
    expect(await readFile(join(directory, 'b.tap'), 'utf8')).toContain(
      'not ok 1 - other/client.hook-test.yaml',
    );
  });

  test.each([
    ['--report junit', '--report junit: expected FORMAT=FILE with the format junit, tap, github'],
    ['--report html=a', 'expected FORMAT=FILE'],
    ['--report tap=none/a.tap', '--report: cannot write'],
    ['--filter /(/', '--filter /(/: Invalid regular expression'],
  ])('refuses %s with the reason', async (option, reason) => {
    expect(await hookTest(`empty-run ${option}`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(reason),
    });
  });

  test('leaves no temporary files', async () => {
    const names = await readdir(directory);
    expect(names.filter((name) => name.startsWith('addon-operator-'))).toEqual([]);
  });
});
