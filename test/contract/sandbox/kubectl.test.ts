import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandboxLab, type SandboxLab } from './sandbox-lab.ts';

const WIDGETS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns:
        - {name: Size, type: integer, jsonPath: .spec.size}
        - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {size: {type: integer, default: 3}, tags: {type: array, items: {type: string}}}}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;

const WIDGET = `apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {tags: [a]}
`;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: nginx, ports: [{containerPort: 80}], env: [{name: A, value: one}]}
`;

describe('kubectl on the sandbox', () => {
  let lab: SandboxLab;

  beforeAll(async () => {
    lab = await openSandboxLab();
  });

  afterAll(() => lab.close());

  async function stdoutOf(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await lab.bench.kubectl(...args);
    expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return stdout;
  }

  test('applies, applies again without a change, and applies a change', async () => {
    const path = await lab.bench.file('web.yaml', DEPLOYMENT);

    expect(await stdoutOf('apply', '-f', path)).toBe('deployment.apps/web created');
    expect(await stdoutOf('apply', '-f', path)).toBe('deployment.apps/web unchanged');
    await lab.bench.file('web.yaml', DEPLOYMENT.replace('value: one', 'value: two'));
    expect((await lab.bench.kubectl('diff', '-f', path)).stdout).toContain('+          value: two');
    expect(await stdoutOf('apply', '-f', path)).toBe('deployment.apps/web configured');
  });

  test('waits for a rollout, describes, scales and restarts a deployment', async () => {
    expect(await stdoutOf('rollout', 'status', 'deployment/web', '--timeout=10s')).toContain(
      'successfully rolled out',
    );
    expect(await stdoutOf('describe', 'deployment', 'web')).toContain('NewReplicaSet:   web-');
    expect(await stdoutOf('scale', 'deployment', 'web', '--replicas=3')).toBe('deployment.apps/web scaled');
    expect(await stdoutOf('rollout', 'restart', 'deployment/web')).toBe('deployment.apps/web restarted');
    expect(await stdoutOf('wait', '--for=condition=Available', 'deployment/web', '--timeout=10s')).toContain(
      'met',
    );
    expect(await stdoutOf('get', 'deployment', 'web')).toMatch(/web\s+3\/3\s+3\s+3/);
    expect(await stdoutOf('rollout', 'history', 'deployment/web')).toContain('3');
  });

  test('deletes a deployment and what belongs to it', async () => {
    expect(await stdoutOf('delete', 'deployment', 'web', '--timeout=10s')).toContain(
      'deployment.apps "web" deleted',
    );
    expect(await lab.bench.get('replicasets')).toMatchObject({ items: [] });
  });

  test('patches in every way, labels, annotates and edits ConfigMaps', async () => {
    await stdoutOf('create', 'configmap', 'settings', '--from-literal=a=1');
    await stdoutOf('patch', 'configmap', 'settings', '-p', '{"data":{"b":"2"}}');
    await stdoutOf('patch', 'configmap', 'settings', '--type=merge', '-p', '{"data":{"c":"3","a":null}}');
    await stdoutOf(
      'patch',
      'configmap',
      'settings',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/data/d","value":"4"}]',
    );
    await stdoutOf('label', 'configmap', 'settings', 'team=blue');
    await stdoutOf('annotate', 'configmap', 'settings', 'note=hi');

    expect(await lab.bench.get('configmap', 'settings')).toMatchObject({
      data: { b: '2', c: '3', d: '4' },
      metadata: { labels: { team: 'blue' }, annotations: { note: 'hi' } },
    });
    expect(await stdoutOf('get', 'configmap', '-l', 'team=blue', '-o', 'name')).toBe('configmap/settings');
  });

  test('creates and deletes namespaces with their objects', async () => {
    await stdoutOf('create', 'namespace', 'trial');
    await stdoutOf('create', 'configmap', 'inside', '-n', 'trial', '--from-literal=a=1');

    expect(await stdoutOf('get', 'serviceaccount', '-n', 'trial', '-o', 'name')).toBe(
      'serviceaccount/default',
    );
    expect(await stdoutOf('delete', 'namespace', 'trial', '--timeout=10s')).toContain(
      'namespace "trial" deleted',
    );
    expect((await lab.bench.kubectl('get', 'configmap', 'inside', '-n', 'trial')).stderr).toContain(
      'NotFound',
    );
  });

  test('serves the kinds of a CRD at once, with columns, defaults and status', async () => {
    const definition = await lab.bench.file('crd.yaml', WIDGETS);
    const widget = await lab.bench.file('widget.yaml', WIDGET);

    await stdoutOf('apply', '-f', definition);
    await stdoutOf('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=10s');
    expect(await stdoutOf('apply', '-f', widget)).toBe('widget.example.com/one created');
    expect(await stdoutOf('apply', '-f', widget)).toBe('widget.example.com/one unchanged');
    const status = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
    await stdoutOf('patch', 'widget', 'one', '--subresource=status', '--type=merge', '-p', status);
    expect(await stdoutOf('get', 'wd')).toMatch(/NAME\s+SIZE\s+READY\none\s+3\s+True/);
    expect(await stdoutOf('get', 'all')).toContain('widget.example.com/one');
    await stdoutOf('delete', 'crd', 'widgets.example.com', '--timeout=10s');
    expect((await lab.bench.kubectl('get', 'widgets')).stderr).toContain('NotFound');
  });

  test('refuses unknown fields of a manifest', async () => {
    const path = await lab.bench.file(
      'typo.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatta: {}\n',
    );

    const refused = await lab.bench.kubectl('apply', '-f', path);

    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toContain('unknown field "datta"');
  });

  test('follows with get -w what is created, changed and deleted, by its selector', async () => {
    const watching = await lab.bench.startKubectl(
      'get',
      'configmaps',
      '-w',
      '--selector=watched=yes',
      '--output-watch-events',
    );
    await stdoutOf('create', 'configmap', 'ignored');
    await stdoutOf('create', 'configmap', 'followed');
    await stdoutOf('label', 'configmap', 'followed', 'watched=yes');
    await watching.until(/ADDED +followed/);
    await stdoutOf('patch', 'configmap', 'followed', '-p', '{"data":{"a":"1"}}');
    await watching.until(/MODIFIED +followed/);
    await stdoutOf('delete', 'configmap', 'followed', 'ignored');
    await watching.until(/DELETED +followed/);
    watching.kill('SIGTERM');
    await watching.exitCode;
    expect(watching.output).not.toContain('ignored');
  });

  test('responds to auth can-i', async () => {
    expect(await stdoutOf('auth', 'can-i', 'create', 'pods')).toBe('yes');
    expect(await stdoutOf('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe('sandbox');
  });

  test('fails for logs instead of hanging', async () => {
    await stdoutOf('run', 'lonely', '--image=nginx');
    await stdoutOf('wait', '--for=condition=Ready', 'pod/lonely', '--timeout=10s');

    const logs = await lab.bench.kubectl('logs', 'lonely');

    expect(logs.exitCode).toBe(1);
    expect(logs.stderr).toContain('the sandbox does not support pods/log');
  });
});
