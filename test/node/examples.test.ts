import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildImage, saveImage } from '../../release/build-image.ts';
import { furtherNode } from '../support/api-independent.ts';
import { readBaseImage } from '../support/node/images.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { imageOptions } from '../support/node/operator-image.ts';
import { loadOnTop, PodOperator, type PodOperatorSpec, RELEASE } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };
const EXAMPLES = join(import.meta.dirname, '../../examples');
const IMAGE = 'localhost/examples';
const PYTHON_IMAGE = 'localhost/examples-python';

interface Example {
  /** Directory below `examples`. */
  readonly name: string;
  /** Directories of modules and of global hooks; default: `modules` and `global-hooks`, in the catalogue `hooks`. */
  readonly modules?: readonly string[];
  readonly hooks?: string;
  /** Values of the chart. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Files with objects that must exist, below its directory. */
  readonly objects?: readonly string[];
  /** Arguments of a command of kubectl that its README has before its module is ready. */
  readonly prepare?: readonly string[];
  readonly namespace?: string;
  /** Its server runs beside the operator, and starts before it. */
  readonly server?: { readonly program: string; readonly port: number };
  readonly needsPython?: boolean;
}

const GLOBAL: Pick<Example, 'hooks'> = { hooks: 'global-hooks' };
const WEBHOOKS = { values: { 'webhooks.enabled': true }, objects: ['crd.yaml'] };

/** All but those with a chart or manifests of their own, which have tests of their own below, and that of k9s. */
const TESTED: readonly Example[] = [
  { name: 'config-values-from-a-hook' },
  { name: 'continuous-reconcile' },
  { name: 'debounce' },
  { name: 'deploy-notifier', server: { program: 'inbox.mjs', port: 8788 } },
  { name: 'enabled-script' },
  {
    name: 'error-classifier',
    values: { 'settings.ADDON_OPERATOR_FATAL_DEPLOY_ERRORS': 'stop' },
    namespace: 'team-a',
  },
  { name: 'hook-metrics' },
  { name: 'http-hook', server: { program: 'server.mjs', port: 8787 } },
  { name: 'in-process-hook' },
  { name: 'kubernetes-event-hook' },
  { name: 'module-with-values-from-a-hook' },
  { name: 'named-queues' },
  { name: 'reconcile-webhook', server: { program: 'names.mjs', port: 8789 } },
  { name: 'retries' },
  { name: 'schedule-hook' },
  {
    name: 'secret-reference',
    values: { 'settings.ADDON_OPERATOR_SECRET_REFERENCES': 'mailer' },
    prepare: ['create', 'secret', 'generic', 'mail-account', '--from-literal=password=swordfish'],
  },
  { name: 'signed-module' },
  { name: 'startup-hook' },
  { name: 'symlinked-module', modules: ['modules', 'team-modules'] },
  { name: 'values-schema' },
  { name: 'catalogue/001-startup-global', ...GLOBAL },
  { name: 'catalogue/001-startup-shell' },
  { name: 'catalogue/002-startup-python', needsPython: true },
  { name: 'catalogue/003-common-library' },
  { name: 'catalogue/101-module-sysctl-tuner', ...GLOBAL },
  { name: 'catalogue/101-monitor-pods' },
  { name: 'catalogue/102-monitor-namespaces' },
  { name: 'catalogue/103-schedule' },
  { name: 'catalogue/104-secret-copier' },
  { name: 'catalogue/105-crd-simple', objects: ['crd-simple.yaml'] },
  { name: 'catalogue/106-monitor-events', namespace: 'example-monitor-events' },
  { name: 'catalogue/200-advanced' },
  { name: 'catalogue/201-sysctl-tuner-values', ...GLOBAL },
  { name: 'catalogue/202-module-symlinks', modules: ['module_dir_1', 'module_dir_2'], ...GLOBAL },
  { name: 'catalogue/202-repack-build' },
  { name: 'catalogue/204-validating-webhook', ...WEBHOOKS },
  { name: 'catalogue/206-mutating-webhook', ...WEBHOOKS },
  { name: 'catalogue/210-conversion-webhook', ...WEBHOOKS },
  { name: 'catalogue/220-execution-rate', objects: ['crd.yaml'] },
  {
    name: 'catalogue/230-configmap-python',
    needsPython: true,
    values: {
      'rbac.rulesByNamespace': {
        default: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update', 'get'] }],
      },
    },
  },
  { name: 'catalogue/300-platform', needsPython: true, ...GLOBAL },
  { name: 'catalogue/700-typescript-hook', ...GLOBAL },
];
const MANIFESTS = 'catalogue/002-startup-global-high-availability';
const CHART = 'catalogue/201-install-with-helm-chart';
/** The program of batch-hook has to be built, and the Dockerfiles have a test of their own. */
const OTHERS = [MANIFESTS, CHART, 'batch-hook', 'dockerfiles', 'k9s'];
describeNode('the examples in a pod, with the permissions that `rbac` prints there', (node) => {
  let shared: SharedNode;
  beforeAll(async () => {
    shared = await node();
    await loadExamples(shared, IMAGE);
  });

  for (const example of TESTED) {
    // oxlint-disable-next-line vitest/valid-title -- the name makes it a title
    test(`${example.name} converges, and no request of it is denied`, furtherNode, async () => {
      if (example.needsPython === true) await loadPythonExamples(shared);
      expect(await complaintsWithLeastPermissions(shared, example)).toEqual([]);
    });
  }

  test(`${CHART} installs an operator whose hook is in a ConfigMap`, furtherNode, async () => {
    await using operator = await PodOperator.prepare(shared, {
      name: 'chart-example',
      image: IMAGE,
      permissions: 'administrator',
    });
    const flags = ['--namespace', operator.namespace, '--set', `image=${IMAGE}:test`, '--wait'];
    await operator.helm('install', 'example', join(EXAMPLES, CHART), ...flags);
    const log = async () => await operator.kubectl('logs', 'deployment/example');
    await expect.poll(log, SOON).toContain('Got Synchronization event for OnCreateDeleteNamespace');
    expect(await log()).toContain('Got Synchronization event for OnModifiedNamespace');
    expect(await shared.node.denials(operator.namespace, 'example')).toEqual([]);
    await operator.helm('uninstall', 'example', '--namespace', operator.namespace, '--wait');
  });

  test(`${MANIFESTS} runs two replicas, and the leader runs the hook`, furtherNode, async () => {
    await using operator = await PodOperator.prepare(shared, {
      name: 'two-replicas',
      image: IMAGE,
      permissions: 'administrator',
    });
    const directory = join(EXAMPLES, MANIFESTS);
    const manifest = await readFile(join(directory, 'addon-operator-deployment.yaml'), 'utf8');
    const deployment = join(shared.node.directory, 'two-replicas.yaml');
    const hooks = `/examples/${MANIFESTS}/global-hooks`;
    await writeFile(
      deployment,
      manifest
        .replace(/image: .*/, `image: ${IMAGE}:test`)
        .replace('env:\n', `env:\n        - {name: GLOBAL_HOOKS_DIR, value: ${hooks}}\n`),
    );
    await operator.kubectl('apply', '-f', join(directory, 'addon-operator-rbac.yaml'), '-f', deployment);
    await operator.kubectl('rollout', 'status', 'deployment/addon-operator', '--timeout=300s');
    const leader = await operator.kubectl(
      'get',
      'lease',
      'addon-operator-leader-election',
      '-o=jsonpath={.spec.holderIdentity}',
    );
    const logs = await operator.kubectl('logs', '--selector=app=addon-operator', '--tail=-1', '--prefix');
    const lines = logs.split('\n').filter((line) => line.includes('OnStartup global shell hook'));
    expect(lines).toHaveLength(1);
    const [, pod = ''] = /^\[pod\/([^/]+)\//.exec(lines[0] ?? '') ?? [];
    expect(leader).toContain(pod);
  });
});

test('all examples are tested', async () => {
  const listed = [...TESTED.map(({ name }) => name), ...OTHERS];
  const names = async (directory: string) =>
    (await readdir(join(EXAMPLES, directory), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(directory, name));
  const found = [...(await names('.')), ...(await names('catalogue'))];
  expect(listed.toSorted()).toEqual(found.filter((name) => name !== 'catalogue').toSorted());
});

/**
 * Lets the operator work with wide permissions, so that `rbac` knows the objects that hooks patch, and then with those
 * that it prints, as the docs say. What these do not contain is denied.
 *
 * @returns requests that the API server has denied, and warnings and errors in the log
 */
async function complaintsWithLeastPermissions(
  shared: SharedNode,
  example: Example,
): Promise<readonly string[]> {
  const { probe } = shared.node;
  await using cleanup = new AsyncDisposableStack();
  if (example.namespace !== undefined) {
    const { namespace: name } = example;
    await probe.expect({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
    cleanup.defer(
      async () => void (await probe.request({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })),
    );
  }
  const operator = cleanup.use(await PodOperator.prepare(shared, specOf(example)));
  for (const file of example.objects ?? []) {
    const path = join(EXAMPLES, example.name, file);
    await operator.kubectl('apply', '--filename', path);
    cleanup.defer(
      async () => void (await operator.kubectl('delete', '--ignore-not-found', '--filename', path)),
    );
  }
  if (example.prepare !== undefined) await operator.kubectl(...example.prepare);
  await operator.upgrade();
  await operator.adoptRules();
  await operator.upgrade('--set', 'podAnnotations.permissions=least');
  const complaints = (await operator.records())
    .filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))
    .map((record) => JSON.stringify(record));
  const denials = await shared.node.denials(operator.namespace, RELEASE);
  return [...denials.map((denial) => `denied: ${denial}`), ...complaints];
}

function specOf({
  name,
  modules = ['modules'],
  hooks,
  values = {},
  server,
  needsPython = false,
}: Example): PodOperatorSpec {
  const root = `/examples/${name}`;
  const hooksDirectory = hooks ?? (name.startsWith('catalogue/') ? 'hooks' : 'global-hooks');
  return {
    name: name.replace(/^catalogue\//, 'example-').slice(0, 40),
    image: needsPython ? PYTHON_IMAGE : IMAGE,
    permissions: 'administrator',
    values: {
      'settings.MODULES_DIR': modules.map((directory) => `${root}/${directory}`).join(':'),
      'settings.GLOBAL_HOOKS_DIR': `${root}/${hooksDirectory}`,
      ...(server === undefined
        ? {}
        : {
            initContainers: [serverContainer(`${root}/server/${server.program}`, server.port)],
            'settings.ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS': '127.0.0.1',
          }),
      ...values,
    },
  };
}

function serverContainer(program: string, port: number): object {
  return {
    name: 'server',
    restartPolicy: 'Always',
    startupProbe: {
      exec: { command: ['bash', '-c', `</dev/tcp/127.0.0.1/${port}`] },
      periodSeconds: 1,
      failureThreshold: 120,
    },
    image: `${IMAGE}:test`,
    imagePullPolicy: 'IfNotPresent',
    // As the first process, Node ignores SIGTERM.
    command: ['/sbin/tini', '--', 'node', program],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
}

/** Puts an image on the node that contains the examples in `/examples`. */
async function loadExamples(shared: SharedNode, name: string): Promise<void> {
  const content = await mkdtemp(join(shared.node.directory, 'examples-'));
  await cp(EXAMPLES, join(content, 'examples'), { recursive: true, verbatimSymlinks: true });
  await loadOnTop(shared, name, content);
  await rm(content, { recursive: true });
}

const python: { loaded?: Promise<void> } = {};

/** The image for hooks in Python, as `npm run image -- --with` builds it. */
async function loadPythonExamples(shared: SharedNode): Promise<void> {
  python.loaded ??= (async () => {
    const signal = new AbortController().signal;
    const onProgress = (message: string): void => console.log(`image: ${message}`);
    const options = imageOptions(onProgress, ['python3', 'python3-kubernetes']);
    const image = await buildImage(options, signal);
    const archive = join(shared.node.directory, 'python.tar');
    await saveImage(image, archive, signal);
    await shared.node.load(archive);
    await loadExamples({ ...shared, operatorImage: await readBaseImage(archive) }, PYTHON_IMAGE);
    await rm(archive);
  })();
  await python.loaded;
}
