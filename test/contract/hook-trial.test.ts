import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { type FileTree, shHook, THROWING_HOOK, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 20 };
const CHECKOUT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

const SECRETS = `kubernetes:
- name: secrets
  apiVersion: v1
  kind: Secret
  namespace: {nameSelector: {matchNames: [shop]}}
  labelSelector: {matchLabels: {issue: "yes"}}
  jqFilter: .metadata.name
  executeHookOnEvent: [Added, Deleted]`;

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

const secret = (name: string, labels = '{issue: "yes"}'): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: shop, labels: ${labels}}\n`;

const FILES: FileTree = {
  'global-hooks/certificates.sh': shHook(
    `onStartup: 1\n${SECRETS}\nschedule:\n- {name: nightly, crontab: "0 3 * * *"}`,
    `
node -p 'const [{ binding, type, watchEvent, objects, filterResult }] = JSON.parse(fs.readFileSync(process.env.BINDING_CONTEXT_PATH));
"context " + JSON.stringify([binding, type, watchEvent, objects?.length, filterResult])'
echo '{"level": "error", "msg": "no issuer", "issuer": "x"}'
echo "FRAMEWORK_DIR=$FRAMEWORK_DIR"
echo '{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made", "namespace": "default"}, "data": {"by": "patch"}}}' > "$KUBERNETES_PATCH_PATH"
echo '{"name": "certificates", "set": 3, "labels": {"ns": "shop"}}' > "$METRICS_PATH"
echo '[{"op": "add", "path": "/global/issuer", "value": "internal"}]' > "$VALUES_JSON_PATCH_PATH"`,
  ),
  'global-hooks/strict.sh': shHook(SECRETS.replace('.metadata.name', '.metadata.name | tonumber'), 'true'),
  'global-hooks/throws.ts': THROWING_HOOK,
  'global-hooks/fails.sh': shHook('onStartup: 1', 'echo "no route" >&2; exit 3'),
  'global-hooks/hangs.sh': shHook(
    'onStartup: 1',
    'echo $$ > "$PID_FILE.new"; mv "$PID_FILE.new" "$PID_FILE"; exec sleep 600',
  ),
  'global-hooks/client.sh': shHook(
    'onStartup: 1',
    `node -e 'const [, server] = /server: "?([^"\\s]+)/.exec(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
fetch(server + "/api/v1/namespaces/shop/secrets/tls", { method: "DELETE" }).then(({ ok }) => process.exit(ok ? 0 : 1));'`,
  ),
  'global-hooks/broken.sh': '#!/bin/sh\necho "configVersion: v1"; echo "onStartup: soon"\n',
  'global-hooks/plain.txt': 'no hook',
  'modules/values.yaml': 'web:\n  replicas: 2\n',
  'modules/010-base/values.yaml': 'baseEnabled: true\n',
  'modules/030-web/values.yaml': 'web:\n  color: red\nwebEnabled: false\n',
  'modules/030-web/openapi/config-values.yaml':
    'type: object\nproperties:\n  replicas: {type: integer}\n  color: {type: string}\n  size: {type: string, default: small}\n',
  'modules/030-web/crds/gadget.yaml': CRD,
  'modules/030-web/hooks/gadgets.sh': shHook(
    'beforeHelm: 1\nkubernetes:\n- {name: gadgets, apiVersion: example.com/v1, kind: Gadget, executeHookOnSynchronization: false}',
    `
node -p 'const read = (name) => JSON.parse(fs.readFileSync(process.env[name]));
const { web, global } = read("VALUES_PATH");
const [{ snapshots }] = read("BINDING_CONTEXT_PATH");
JSON.stringify([web, global.enabledModules, snapshots.gadgets.map(({ object }) => object.metadata.name)])'
echo '[{"op": "add", "path": "/web/replicas", "value": 5}]' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
  ),
  'shop.yaml': `${secret('tls')}---\n${secret('other', '{}')}`,
  'new.yaml': secret('new'),
  'gadget.yaml': 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\n',
  'config.yaml': 'web:\n  replicas: 4\n',
  'bad-config.yaml': 'web:\n  replicas: many\n',
};

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hook-trial-'));
  await writeTree(directory, FILES);
});
afterAll(() => rm(directory, { recursive: true }));

interface Trial {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function hook(line: string, stop = new AbortController().signal): Promise<Trial> {
  const said = { stdout: '', stderr: '' };
  const exitCode = await runCli(['hook', ...line.split(' ')], {
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: directory,
      TMPDIR: directory,
      PID_FILE: join(directory, 'pid'),
    },
    cwd: directory,
    clock: systemClock,
    stdout: { write: (text: string) => (said.stdout += text) },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => stop,
  });
  return { exitCode, ...said };
}

/** Durations differ from run to run. */
const without = (text: string): string =>
  text.replaceAll(/(?<=succeeded in |failed after )[\d.]+(?= ms)/g, 'N');

describe('hook run', () => {
  test('runs a hook as at its start, and shows what it prints and would change', async () => {
    const { exitCode, stdout, stderr } = await hook('run global-hooks/certificates.sh --cluster shop.yaml');
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(without(stdout)).toBe(`global hook 'certificates.sh' on a sandbox
run for onStartup
  | context ["onStartup",null,null,null,null]
  ! no issuer issuer="x"
  | FRAMEWORK_DIR=${CHECKOUT}
  values would change
    + issuer: internal
  metric certificates{ns="shop"} set 3
  ConfigMap default/made would be created
    + apiVersion: v1
    + data:
    +   by: patch
    + kind: ConfigMap
    + metadata:
    +   name: made
    +   namespace: default
  succeeded in N ms
run for Synchronization of secrets with 1 object: Secret shop/tls
  | context ["secrets","Synchronization",null,1,null]
  ! no issuer issuer="x"
  | FRAMEWORK_DIR=${CHECKOUT}
  metric certificates{ns="shop"} set 3
  succeeded in N ms
Not run: nightly. Choose one with --binding.
`);
  });

  test.each([
    ['--binding nightly', 'run for schedule nightly\n  | context ["nightly","Schedule",null,null,null]'],
    [
      '--event Added --object new.yaml',
      'run for Added event of secrets: Secret shop/new\n  | context ["secrets","Event","Added",null,"new"]',
    ],
    [
      '--event Deleted --object new.yaml',
      'run for Deleted event of secrets: Secret shop/new\n  | context ["secrets","Event","Deleted",null,"new"]',
    ],
  ])('runs it for %s', async (options, expected) => {
    const { exitCode, stdout } = await hook(
      `run global-hooks/certificates.sh ${options} --cluster shop.yaml`,
    );
    expect(stdout).toContain(expected);
    expect(exitCode).toBe(0);
  });

  test('gives the hook of a module its values and CRDs, and shows config values that it writes', async () => {
    const { exitCode, stdout } = await hook(
      'run modules/030-web/hooks/gadgets.sh --values config.yaml --cluster gadget.yaml -o json',
    );
    expect(exitCode).toBe(0);
    const { owner, runs } = JSON.parse(stdout) as {
      owner: unknown;
      runs: readonly Record<string, unknown>[];
    };
    expect(owner).toEqual({ type: 'module', module: 'web' });
    expect(runs).toMatchObject([
      {
        binding: 'beforeHelm',
        printed: [{ text: '[{"color":"red","replicas":4,"size":"small"},["base","web"],["a"]]' }],
        configValues: [
          { type: 'removed', text: 'replicas: 4' },
          { type: 'added', text: 'replicas: 5' },
        ],
        objects: [],
      },
    ]);
  });

  test('shows what a hook does to objects by itself', async () => {
    const { exitCode, stdout } = await hook('run global-hooks/client.sh --cluster shop.yaml');
    expect(stdout).toContain('  Secret shop/tls would be deleted\n    - apiVersion: v1');
    expect(exitCode).toBe(0);
  });

  test('ends with exit code 1 when the hook fails, and says why', async () => {
    const { exitCode, stdout } = await hook('run global-hooks/fails.sh');
    expect(without(stdout)).toContain("  ! no route\n  failed after N ms: global hook 'fails.sh'");
    expect(exitCode).toBe(1);
  });

  test('names the line of a TypeScript hook that throws', async () => {
    const { stdout } = await hook('run global-hooks/throws.ts');
    expect(stdout).toMatch(/failed: Error: no issuer internal \(at .*global-hooks\/throws\.ts:5:9\)/);
  });

  test.each([
    ['global-hooks/none.sh', 'none.sh is not a hook: there is no such file'],
    ['global-hooks/plain.txt', 'it is a data file or not executable'],
    ['global-hooks/broken.sh', 'onStartup'],
    ['global-hooks/strict.sh --cluster shop.yaml', 'the operator would leave this object out'],
    ['global-hooks/certificates.sh --binding nightli', 'did you mean "nightly"?'],
    ['global-hooks/certificates.sh --event Added', '--event and --object are used together'],
    [
      'global-hooks/certificates.sh --event Modified --object new.yaml',
      "binding 'secrets' runs the hook only for Added, Deleted (executeHookOnEvent)",
    ],
    ['global-hooks/certificates.sh --cluster none.yaml', 'none.yaml: ENOENT'],
    [
      'global-hooks/certificates.sh --object shop.yaml --event Added',
      '--object: shop.yaml must hold one object',
    ],
    ['modules/030-web/hooks/gadgets.sh --values bad-config.yaml', 'replicas'],
    ['global-hooks/fails.sh --cluster gadget.yaml', "kind 'Gadget' is not supported by cluster"],
  ])('%s is refused with the reason', async (options, reason) => {
    const { exitCode, stderr } = await hook(`run ${options}`);
    expect(stderr).toContain(reason);
    expect(exitCode).toBe(1);
  });

  test('leaves no process and no file when it is stopped', async () => {
    const stop = new AbortController();
    const running = hook('run global-hooks/hangs.sh', stop.signal);
    const pid = await vi.waitFor(async () => Number(await readFile(join(directory, 'pid'), 'utf8')), WAIT);
    stop.abort(new Error('stopped by a signal'));
    expect(await running).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('stopped by a signal'),
    });
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
    expect((await readdir(directory)).filter((name) => name.startsWith('addon-operator-'))).toEqual([]);
  });
});

test('hook contexts prints what hook run would give the hook, and runs nothing', async () => {
  const { exitCode, stdout } = await hook(
    'contexts global-hooks/certificates.sh --cluster shop.yaml --event Added --object new.yaml',
  );
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      binding: 'secrets',
      type: 'Event',
      watchEvent: 'Added',
      filterResult: 'new',
      object: { metadata: { name: 'new' } },
    },
  ]);
  const start = await hook('contexts global-hooks/certificates.sh --cluster shop.yaml');
  expect(JSON.parse(start.stdout)).toMatchObject([
    { binding: 'onStartup' },
    { binding: 'secrets', type: 'Synchronization', objects: [{ filterResult: 'tls' }] },
  ]);
});

test('hook config prints the configuration with all defaults', async () => {
  const { exitCode, stdout } = await hook('config global-hooks/certificates.sh');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'certificates.sh',
    owner: { type: 'global' },
    transport: 'executable',
    config: {
      version: 'v1',
      lifecycle: { onStartup: 1 },
      kubernetes: [{ name: 'secrets', queue: 'main', executeOnSynchronization: true }],
      schedule: [{ name: 'nightly', crontab: '0 3 * * *', queue: 'main', allowFailure: false }],
    },
  });
});
