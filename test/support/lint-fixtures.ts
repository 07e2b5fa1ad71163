import { type FileTree, shHook } from './world-files.ts';

/** Modules that break one rule, and the same without it. Paths begin with the directory of a module. */
export interface LintFixture {
  readonly bad: FileTree;
  readonly good: FileTree;
  /** Files of `bad` that are not executable, although they begin with `#!`. */
  readonly plain?: readonly string[];
  /** Part of the message of the finding. */
  readonly message: string;
}

const CHART = 'apiVersion: v2\nname: web\nversion: 0.1.0\n';
const BEFORE_HELM = shHook('beforeHelm: 1', 'true');

function hook(config: string): FileTree {
  return { '030-web/hooks/a.sh': shHook(config, 'true') };
}

function chart(template: string, more: FileTree = {}): FileTree {
  return { '030-web/Chart.yaml': CHART, '030-web/templates/a.yaml': template, ...more };
}

function configMap(name: string, data = '{}'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: ${data}\n`;
}

function object(apiVersion: string, kind: string, more = ''): FileTree {
  return chart(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: web, namespace: shop}\n${more}`);
}

/** A Deployment with one container. */
function deployment(container: string, pod = '', spec = ''): FileTree {
  return chart(deploymentText(container, pod, spec));
}

function deploymentText(container: string, pod = '', spec = ''): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  ${spec}
  template:
    metadata: {labels: {app: web}}
    spec:
      ${pod}
      containers:
      - {name: web, image: "web:1.0", ${container}}
`;
}

function schema(config: string, values = '{}\n'): FileTree {
  return {
    '030-web/openapi/config-values.yaml': `type: object\nproperties:\n  size: ${config}\n`,
    '030-web/values.yaml': values,
  };
}

function exclusions(text: string): FileTree {
  return { '030-web/values.yaml': '{}\n', '030-web/.module-lint.yaml': text };
}

function module(name: string, manifest: string): FileTree {
  return { [`${name}/module.yaml`]: manifest };
}

const WITH_BINDING = (binding: string): FileTree => hook(`kubernetes:\n- ${binding}`);
const VALUES_TEMPLATE = configMap('web', '{size: "{{ .Values.web.size }}"}');
/** The operator does not pack more than a release can have, so this text must not compress. */
const NOISE = Array.from({ length: 90_000 }, (_value, index) =>
  ((index * 2_654_435_761) % 2 ** 32).toString(36),
).join(' ');

/** By the code of the rule. */
export const LINT_FIXTURES: Readonly<Record<string, LintFixture>> = {
  'module-name': {
    bad: { '030-Web/values.yaml': '{}\n' },
    good: { '030-web/values.yaml': '{}\n' },
    message: 'kebab-case',
  },
  'number-missing': {
    bad: { 'web/module.yaml': '{}\n' },
    good: { '030-web/module.yaml': '{}\n' },
    message: 'web has no number',
  },
  'unknown-file': {
    bad: { '030-web/template/a.yaml': '{}\n' },
    good: { '030-web/docs/a.md': 'text\n' },
    message: 'is not used by the operator (did you mean "templates"?)',
  },
  'hook-not-executable': {
    bad: { '030-web/hooks/a.sh': BEFORE_HELM },
    good: { '030-web/hooks/a.sh': BEFORE_HELM },
    plain: ['030-web/hooks/a.sh'],
    message: 'not executable',
  },
  'hook-ignored': {
    bad: { '030-web/hooks/a.txt': BEFORE_HELM, '030-web/hooks/b.ts': 'export const a = 1;\n' },
    good: { '030-web/hooks/lib/a.txt': BEFORE_HELM, '030-web/hooks/lib/b.ts': 'export const a = 1;\n' },
    message: 'is never run',
  },
  'script-text': {
    bad: { '030-web/enabled': BEFORE_HELM.replaceAll('\n', '\r\n') },
    good: { '030-web/enabled': BEFORE_HELM },
    message: 'DOS line ends',
  },
  shebang: {
    bad: { '030-web/enabled': '#!sh\nexit 0\n' },
    good: { '030-web/enabled': '#!/bin/sh\nexit 0\n' },
    message: 'without #! and an absolute path',
  },
  'jq-removed': {
    bad: { '030-web/hooks/lib/read.sh': "jq -n --argfile a a.json '$a'\n" },
    good: {
      '030-web/hooks/a.sh': `${BEFORE_HELM}# jq --argfile\njq -n --slurpfile leaf_paths a.json '$leaf_paths'\n`,
    },
    message: '--argfile, which jq 1.8 of the image does not have',
  },
  'link-leads-out': {
    bad: { '030-web/values.yaml': '{}\n', '030-web/docs': { link: '/etc' } },
    good: { '030-web/values.yaml': '{}\n', '030-web/docs': { link: 'values.yaml' } },
    message: 'has a target outside of the module',
  },
  'helmignore-hides-templates': {
    bad: chart(configMap('web'), { '030-web/.helmignore': 'a.*\n' }),
    good: chart(configMap('web'), { '030-web/.helmignore': '*.swp\n/docs/\n' }),
    message: 'leaves out templates/a.yaml',
  },
  'manifest-invalid': {
    bad: module('030-web', 'requires: db\nversion: "1"\n'),
    good: module('030-web', 'version: "1.2.3"\n'),
    message: 'requires: expected a list',
  },
  'manifest-ignored': {
    bad: module('030-web', 'requirez: []\nweight: heavy\n'),
    good: module('030-web', 'weight: 910\nstage: Preview\nrequirements: {deckhouse: ">= 1.69"}\n'),
    message: 'did you mean "requires"?',
  },
  'reconcile-every': {
    bad: module('030-web', 'reconcileEvery: "0 3 31 2 *"\n'),
    good: module('030-web', 'reconcileEvery: "0 3 * * *"\n'),
    message: 'never fires',
  },
  'requires-unknown': {
    bad: module('030-web', 'requires: [{name: database}]\n'),
    good: module('030-web', 'requires: [{name: database, optional: true}]\n'),
    message: 'requires module database',
  },
  'requires-cycle': {
    bad: {
      ...module('030-web', 'requires: [{name: shop}]\n'),
      ...module('040-shop', 'requires: [{name: web}]\n'),
    },
    good: { ...module('030-web', 'requires: [{name: shop}]\n'), ...module('040-shop', '{}\n') },
    message: 'web -> shop -> web',
  },
  'range-never-matches': {
    bad: {
      ...module('030-web', 'requires: [{name: shop, version: ">=2"}]\n'),
      ...module('040-shop', 'version: "1.0.0"\n'),
    },
    good: {
      ...module('030-web', 'requires: [{name: shop, version: ">=1"}]\n'),
      ...module('040-shop', 'version: "1.0.0"\n'),
    },
    message: 'but it has version 1.0.0',
  },
  'hook-config-invalid': {
    bad: hook('onStartup: first\nschedule: [{crontab: bad}]'),
    good: hook('onStartup: 1'),
    message: 'onStartup',
  },
  'binding-without-name': {
    bad: hook('kubernetes: [{kind: Namespace}]\nschedule: [{name: nightly, crontab: "@daily"}]'),
    good: hook('kubernetes: [{name: all, kind: Namespace}]\nschedule: [{name: nightly, crontab: "@daily"}]'),
    message: 'kubernetes binding without a name',
  },
  'binding-name-twice': {
    bad: hook('schedule: [{name: a, crontab: "@daily"}, {name: a, crontab: "@hourly"}]'),
    good: hook('schedule: [{name: a, crontab: "@daily"}, {name: b, crontab: "@hourly"}]'),
    message: "several bindings with the name 'a'",
  },
  'jq-filter-missing': {
    bad: WITH_BINDING('{name: pods, kind: Pod}'),
    good: WITH_BINDING('{name: pods, kind: Pod, jqFilter: .metadata.name, keepFullObjectsInMemory: false}'),
    message: 'keeps all objects of kind Pod in memory',
  },
  'watches-all-secrets': {
    bad: WITH_BINDING('{name: secrets, kind: Secret, jqFilter: .metadata.name}'),
    good: WITH_BINDING('{name: secrets, kind: Secret, namespace: {nameSelector: {matchNames: [shop]}}}'),
    message: 'watches the Secrets of all namespaces',
  },
  'crontab-never': {
    bad: hook('schedule: [{name: never, crontab: "0 0 31 2 *"}]'),
    good: hook('schedule: [{name: sometimes, crontab: "0 0 29 2 *"}]'),
    message: 'never fires',
  },
  'group-over-queues': {
    bad: hook(
      'schedule: [{name: a, crontab: "@daily", group: g}, {name: b, crontab: "@daily", group: g, queue: q}]',
    ),
    good: hook(
      'schedule: [{name: a, crontab: "@daily", group: g, queue: q}, {name: b, crontab: "@daily", group: g, queue: q}]',
    ),
    message: 'several queues: main, q',
  },
  'kind-unknown': {
    bad: WITH_BINDING('{name: gadgets, apiVersion: example.com/v1, kind: Gadget}'),
    good: {
      ...WITH_BINDING('{name: gadgets, apiVersion: example.com/v1, kind: Gadget}'),
      '030-web/crds/gadget.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec: {group: example.com, names: {kind: Gadget, plural: gadgets}, scope: Cluster, versions: []}
`,
    },
    message: 'watches Gadget',
  },
  'webhook-timeout': {
    bad: hook(
      'kubernetesValidating: [{name: a.example.com, timeoutSeconds: 20, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}]',
    ),
    good: hook(
      'kubernetesValidating: [{name: a.example.com, timeoutSeconds: 5, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}]',
    ),
    message: 'may take 20 s',
  },
  'setting-without-effect': {
    bad: hook('onStartup: 1\nsettings: {statusCodes: {temporary: [503]}}'),
    good: hook('onStartup: 1\nsettings: {exitCodes: {temporary: [75]}}'),
    message: 'has settings.statusCodes, which an executable hook does not use',
  },
  'events-in-main-queue': {
    bad: WITH_BINDING('{name: all, kind: Namespace}'),
    good: WITH_BINDING('{name: all, kind: Namespace, queue: namespaces}'),
    message: 'in the queue main',
  },
  'hook-without-timeout': {
    bad: hook('onStartup: 1'),
    good: hook('onStartup: 1\nsettings: {timeout: 1m}'),
    message: 'has no settings.timeout',
  },
  'values-invalid': {
    bad: { '030-web/values.yaml': 'web: {size: 1}\nweb: {size: 2}\n' },
    good: { '030-web/values.yaml': 'web: {size: 2}\n' },
    message: 'web',
  },
  'schema-invalid': {
    bad: schema('{type: text}'),
    good: schema('{type: string}'),
    message: 'config-values.yaml',
  },
  'default-violates-schema': {
    bad: schema('{type: integer, default: large}'),
    good: schema('{type: integer, default: 3}'),
    message: 'web.size in body must be of type integer',
  },
  'values-violate-schema': {
    bad: schema('{type: integer}', 'web: {size: large}\n'),
    good: schema('{type: integer}', 'web: {size: 3}\n'),
    message: 'web.size in body must be of type integer',
  },
  'value-undeclared': {
    bad: chart(VALUES_TEMPLATE),
    good: chart(VALUES_TEMPLATE, { '030-web/values.yaml': 'web: {size: 3}\n' }),
    message: 'uses .Values.web.size',
  },
  'secret-in-plain-text': {
    bad: { '030-web/values.yaml': 'web: {adminPassword: correct-horse}\n' },
    good: { '030-web/values.yaml': 'web: {adminPassword: ""}\n' },
    message: 'adminPassword has a value in plain text',
  },
  'render-fails': {
    bad: chart('{{ fail "no size" }}\n'),
    good: chart(configMap('web')),
    message: 'no size',
  },
  'render-differs': {
    bad: chart(configMap('web', '{key: "{{ randAlphaNum 20 }}"}')),
    good: chart(configMap('web', '{key: "{{ "a" | sha256sum }}"}')),
    message: 'renders differently each time',
  },
  'object-twice': {
    bad: chart(configMap('web'), { '030-web/templates/b.yaml': configMap('web') }),
    good: chart(configMap('web'), { '030-web/templates/b.yaml': configMap('shop') }),
    message: 'is rendered by templates/a.yaml too',
  },
  'namespace-missing': {
    bad: chart('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n'),
    good: chart('apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n'),
    message: 'has no namespace',
  },
  'api-removed': {
    bad: object('batch/v1beta1', 'CronJob'),
    good: object('batch/v1', 'CronJob'),
    message: 'is not served since Kubernetes 1.25: use batch/v1',
  },
  'api-deprecated': {
    bad: object('v1', 'Endpoints'),
    good: object('discovery.k8s.io/v1', 'EndpointSlice'),
    message: 'v1 Endpoints is deprecated',
  },
  'crd-in-templates': {
    bad: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    good: object('v1', 'ConfigMap'),
    message: 'is deleted with the release',
  },
  'release-near-limit': {
    bad: chart(configMap('web'), {
      '030-web/files/noise.txt': NOISE,
      '030-web/files/more.txt': NOISE.split(' ').reverse().join('+'),
      '030-web/templates/reads.yaml': '{{ $_ := .Files.Glob "files/*" }}',
    }),
    good: chart(configMap('web'), {
      '030-web/files/noise.txt': NOISE,
      '030-web/files/more.txt': NOISE.split(' ').reverse().join('+'),
    }),
    message: 'of the 1024 KiB',
  },
  'image-not-pinned': {
    bad: chart(deploymentText('').replace('web:1.0', 'registry:5000/web')),
    good: chart(deploymentText('').replace('web:1.0', 'registry:5000/web:1.0')),
    message: 'image registry:5000/web is not pinned',
  },
  'image-without-digest': {
    bad: deployment(''),
    good: chart(deploymentText('').replace('web:1.0', `web@sha256:${'0'.repeat(64)}`)),
    message: 'image web:1.0 has no digest',
  },
  'run-as-non-root': {
    bad: deployment(''),
    good: deployment('', 'securityContext: {runAsNonRoot: true}'),
    message: 'container web may run as root',
  },
  'read-only-root': {
    bad: deployment(''),
    good: deployment('securityContext: {readOnlyRootFilesystem: true}'),
    message: 'can write to its root file system',
  },
  'privilege-escalation': {
    bad: deployment('securityContext: {privileged: true}'),
    good: deployment('securityContext: {allowPrivilegeEscalation: false}'),
    message: 'is privileged',
  },
  'seccomp-profile': {
    bad: deployment(''),
    good: deployment('', 'securityContext: {seccompProfile: {type: RuntimeDefault}}'),
    message: 'has no seccomp profile',
  },
  'host-access': {
    bad: deployment('ports: [{containerPort: 80, hostPort: 80}]', 'hostNetwork: true'),
    good: deployment('ports: [{containerPort: 80}]'),
    message: 'sets hostNetwork',
  },
  'resources-missing': {
    bad: deployment('resources: {requests: {cpu: 1}}'),
    good: deployment('resources: {requests: {cpu: 1, memory: 1Mi}, limits: {memory: 1Mi}}'),
    message: 'has no requests.memory, limits.memory',
  },
  'probes-missing': {
    bad: deployment(''),
    good: deployment('readinessProbe: {httpGet: {path: /, port: 80}}'),
    message: 'has no readinessProbe',
  },
  'wildcard-rbac': {
    bad: object(
      'rbac.authorization.k8s.io/v1',
      'Role',
      'rules: [{apiGroups: [""], resources: [pods], verbs: ["*"]}]\n',
    ),
    good: object(
      'rbac.authorization.k8s.io/v1',
      'Role',
      'rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n',
    ),
    message: 'grants all verbs',
  },
  'account-missing': {
    bad: deployment('', 'serviceAccountName: web'),
    good: chart(
      `${deploymentText('', 'serviceAccountName: web')}---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\n`,
    ),
    message: 'names the account web',
  },
  'pdb-missing': {
    bad: deployment('', '', 'replicas: 2'),
    good: deployment('', '', 'replicas: 1'),
    message: 'no PodDisruptionBudget',
  },
  'version-missing': {
    bad: module('030-web', 'stage: Preview\n'),
    good: module('030-web', 'version: "2.0.0"\n'),
    message: 'has no version',
  },
  'not-packable': {
    bad: { '030-web/docs/a.md': 'a\n', '030-web/docs/A.md': 'A\n' },
    good: { '030-web/docs/a.md': 'a\n' },
    message: 'docs/a.md differ only in case: rename one of them',
  },
  'version-mismatch': {
    bad: chart(configMap('web'), module('030-web', 'version: "2.0.0"\n')),
    good: chart(configMap('web'), module('030-web', 'version: "0.1.0"\n')),
    message: 'has version 0.1.0, module.yaml has 2.0.0',
  },
  'exclusion-invalid': {
    bad: exclusions('exclude: [{rule: shebang}]\n'),
    good: exclusions('exclude: []\n'),
    message: 'exclude[0]: reason is missing',
  },
  'exclusion-unused': {
    bad: exclusions('exclude: [{rule: shebang, reason: none}]\n'),
    good: {
      ...exclusions('exclude: [{rule: shebang, path: enabled, reason: "runs on one system"}]\n'),
      '030-web/enabled': '#!sh\n',
    },
    message: 'shebang: nothing is excluded by it',
  },
};
