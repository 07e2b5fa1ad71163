/** One command of helm or kubectl; `{ns}`, `{chart}` and `{dir}` stand for namespace, chart and directory. */
export interface Command {
  readonly tool: 'helm 3' | 'helm 4' | 'kubectl';
  readonly args: readonly string[];
  /** Whether what it prints is compared, beside the exit code; default true. */
  readonly isOutputCompared?: boolean;
  /** Whether it is repeated until it succeeds, because servers take their time for what it looks at; default false. */
  readonly isAwaited?: boolean;
  /** Whether the objects that there are after it are compared, as at the end of each sequence; default false. */
  readonly areObjectsCompared?: boolean;
}

export interface CommandSequence {
  readonly name: string;
  readonly commands: readonly Command[];
}

function kubectl(...args: readonly string[]): Command {
  return { tool: 'kubectl', args: ['-n', '{ns}', ...args] };
}

function silently(command: Command): Command {
  return { ...command, isOutputCompared: false };
}

function releaseLife(tool: 'helm 3' | 'helm 4'): readonly Command[] {
  const helm = (...args: readonly string[]): Command => ({ tool, args: [...args, '-n', '{ns}'] });
  const upgrade = (...args: readonly string[]): Command =>
    helm('upgrade', '--install', 'web', '{chart}', '--no-hooks', '--set', 'replicas=0', ...args);
  return [
    upgrade('--dry-run=server', '--create-namespace'),
    upgrade('--create-namespace', '--wait', '--timeout', '30s'),
    upgrade('--set', 'greeting=bye'),
    upgrade('--set', 'greeting=bye'),
    kubectl('set', 'env', 'deployment/web', 'EXTRA=1'),
    upgrade('--set', 'port=81', '--wait', '--timeout', '30s'),
    kubectl('patch', 'configmap', 'web', '--type=merge', '-p', '{"data":{"greeting":"mine","other":"x"}}'),
    silently(upgrade('--set', 'greeting=again')),
    silently(upgrade('--set', 'app=other')),
    silently(helm('list', '-o', 'json')),
    helm('rollback', 'web', '2'),
    silently(helm('history', 'web')),
    { ...helm('get', 'values', 'web'), areObjectsCompared: true },
    helm('uninstall', 'web', '--wait'),
    helm('list', '-q'),
  ];
}

/** Each sequence runs in a namespace of its own. */
export const HELM_SEQUENCES: readonly CommandSequence[] = [
  { name: 'the life of a release with helm 3', commands: releaseLife('helm 3') },
  { name: 'the life of a release with helm 4', commands: releaseLife('helm 4') },
];

export const KUBECTL_SEQUENCES: readonly CommandSequence[] = [
  {
    name: 'kubectl on ConfigMaps',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      kubectl('create', 'configmap', 'a', '--from-literal=a=1'),
      kubectl('create', 'configmap', 'a', '--from-literal=a=1'),
      kubectl('create', 'secret', 'generic', 's', '--from-literal=a=1'),
      kubectl('create', 'serviceaccount', 'runner'),
      kubectl('patch', 'configmap', 'a', '-p', '{"data":{"b":"2"}}'),
      kubectl('patch', 'configmap', 'a', '--type=json', '-p', '[{"op":"add","path":"/data/c","value":"3"}]'),
      kubectl('label', 'configmap', 'a', 'team=blue'),
      kubectl('label', 'configmap', 'a', 'team=red'),
      kubectl('label', 'configmap', 'a', 'team-'),
      kubectl('annotate', 'configmap', 'a', 'note=hello'),
      kubectl('get', 'configmap', 'a', '-o', 'name'),
      kubectl('get', 'configmap', 'none'),
      kubectl('get', 'nothings'),
      kubectl('get', 'configmap', '-l', 'a=b'),
      silently(kubectl('describe', 'configmap', 'a')),
      kubectl('wait', '--for=jsonpath={.data.a}=1', 'configmap/a', '--timeout=5s'),
      kubectl('wait', '--for=delete', 'configmap/none', '--timeout=5s'),
      kubectl('auth', 'can-i', 'create', 'pods'),
      kubectl('delete', 'secret', 's'),
      kubectl('delete', 'secret', 's'),
    ],
  },
  {
    name: 'kubectl apply, diff and replace',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      kubectl('apply', '-f', '{dir}/first.yaml'),
      kubectl('apply', '-f', '{dir}/first.yaml'),
      silently(kubectl('diff', '-f', '{dir}/second.yaml')),
      kubectl('apply', '-f', '{dir}/second.yaml'),
      kubectl('apply', '--server-side', '-f', '{dir}/first.yaml'),
      kubectl('apply', '--server-side', '--force-conflicts', '-f', '{dir}/second.yaml'),
      // What kubectl replaces must not be changed by a controller meanwhile.
      silently(kubectl('rollout', 'status', 'deployment/web', '--timeout=20s')),
      kubectl('replace', '-f', '{dir}/first.yaml'),
      kubectl('scale', 'deployment', 'web', '--replicas=0'),
      kubectl('rollout', 'restart', 'deployment/web'),
      silently(kubectl('rollout', 'status', 'deployment/web', '--timeout=20s')),
      kubectl('apply', '-f', '{dir}/typo.yaml'),
      kubectl('apply', '--validate=warn', '-f', '{dir}/typo.yaml'),
      kubectl('delete', '-f', '{dir}/typo.yaml'),
    ],
  },
  {
    name: 'kubectl explain, and objects that are refused',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      kubectl('explain', 'deployment.spec.strategy'),
      kubectl('explain', 'deployment', '--recursive'),
      kubectl('explain', 'configmaps'),
      kubectl('explain', 'pods.spec.containers.ports'),
      kubectl('explain', 'deployment.spec.nothing'),
      kubectl('apply', '-f', '{dir}/two-replicas.yaml'),
      kubectl('apply', '--server-side', '-f', '{dir}/two-replicas.yaml'),
      kubectl('apply', '--server-side', '-f', '{dir}/typo.yaml'),
      kubectl('apply', '-f', '{dir}/no-selector.yaml'),
      kubectl('apply', '--server-side', '-f', '{dir}/no-selector.yaml'),
      silently(kubectl('diff', '-f', '{dir}/no-selector.yaml')),
      kubectl('create', '-f', '{dir}/no-selector.yaml', '--dry-run=server'),
    ],
  },
  {
    name: 'kubectl on kinds that are not served',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      ...['unknown-group', 'unknown-kind', 'unknown-version'].flatMap((name) => [
        kubectl('apply', '-f', `{dir}/${name}.yaml`),
        kubectl('apply', '--server-side', '-f', `{dir}/${name}.yaml`),
        kubectl('create', '-f', `{dir}/${name}.yaml`),
        kubectl('delete', '-f', `{dir}/${name}.yaml`),
      ]),
      kubectl('get', 'gadgets.v1.unknown.example.com'),
      kubectl('explain', 'gadgets.unknown.example.com'),
    ],
  },
  {
    name: 'kubectl on Events of both groups',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      kubectl('apply', '-f', '{dir}/events.yaml'),
      kubectl('get', 'events', '-o', 'wide'),
      kubectl('get', 'events.events.k8s.io', '-o', 'wide'),
      kubectl('get', 'events.events.k8s.io', '--field-selector=regarding.name=a', '-o', 'name'),
      kubectl('events'),
      kubectl('events', '--for=configmap/a', '--types=Warning'),
      kubectl('explain', 'events.events.k8s.io', '--api-version=events.k8s.io/v1'),
      kubectl('delete', 'events.events.k8s.io', '--all'),
    ],
  },
  {
    name: 'kubectl on custom resources',
    commands: [
      kubectl('create', 'namespace', '{ns}'),
      kubectl('apply', '-f', '{dir}/crd.yaml'),
      // kubectl fails at once while a definition has no condition at all.
      {
        ...kubectl(
          'wait',
          '--for=condition=Established',
          'crd/gadgets.differential.example.com',
          '--timeout=20s',
        ),
        isAwaited: true,
      },
      { ...kubectl('get', 'gadgets'), isAwaited: true },
      kubectl('apply', '-f', '{dir}/gadget.yaml'),
      kubectl('apply', '-f', '{dir}/gadget.yaml'),
      kubectl('get', 'gd'),
      kubectl('patch', 'gadget', 'one', '--type=merge', '-p', '{"spec":{"size":5}}'),
      kubectl('patch', 'gadget', 'one', '-p', '{"spec":{"size":5}}'),
      kubectl(
        'patch',
        'gadget',
        'one',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"ready":true}}',
      ),
      kubectl('patch', 'gadget', 'one', '--type=merge', '-p', '{"status":{"ready":false}}'),
      kubectl('apply', '--server-side', '-f', '{dir}/gadget.yaml'),
      kubectl('get', 'gadget', 'one', '-o', 'jsonpath={.spec.size} {.status.ready} {.metadata.generation}'),
      kubectl('get', 'all', '-o', 'name'),
      kubectl('delete', 'crd', 'gadgets.differential.example.com'),
      silently(kubectl('get', 'gadgets')),
    ],
  },
];

const FIRST = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: nginx, ports: [{containerPort: 80}], env: [{name: A, value: one}, {name: B, value: two}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: one, b: two}
`;

/** Files that the commands name. */
export const COMMAND_FILES: Readonly<Record<string, string>> = {
  'first.yaml': FIRST,
  'second.yaml': FIRST.replace('value: one', 'value: three')
    .replace('b: two', 'c: three')
    .replace('port: 80}', 'port: 80, targetPort: 81}'),
  'events.yaml': `apiVersion: v1
kind: Event
metadata: {name: old.1}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: a, namespace: '{ns}', fieldPath: data.a}
reason: Tested
message: hello
type: Normal
source: {component: test, host: here}
firstTimestamp: 2026-01-01T00:00:00Z
lastTimestamp: 2026-01-02T00:00:00Z
count: 3
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: new.1}
eventTime: 2026-01-03T03:04:05.000000Z
reportingController: example.com/test
reportingInstance: test-1
action: Start
reason: Started
type: Warning
note: good morning
regarding: {apiVersion: v1, kind: ConfigMap, name: a, namespace: '{ns}'}
`,
  'unknown-group.yaml': 'apiVersion: unknown.example.com/v1\nkind: Gadget\nmetadata: {name: a}\n',
  'unknown-kind.yaml': 'apiVersion: apps/v1\nkind: Gadget\nmetadata: {name: a}\n',
  'unknown-version.yaml': 'apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\n',
  'typo.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatta: {a: b}\n',
  'crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.differential.example.com}
spec:
  group: differential.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {type: integer, default: 3}
                parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}}
            status: {type: object, properties: {ready: {type: boolean}}}
`,
  'two-replicas.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: two, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: d}]}}}
`,
  'no-selector.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: d}]}}}
`,
  'gadget.yaml': `apiVersion: differential.example.com/v1
kind: Gadget
metadata: {name: one}
spec: {parts: [{name: wheel, count: 4}, {name: bolt, count: 16}]}
`,
};
