import { fieldsOf } from '@addon-operator/json';
import type { LintFacts } from '../lint-facts.ts';
import { allObjects, containersOf, listOf, podSpecOf, type RenderedObject } from '../rendered.ts';
import type { Check, Found, Rule } from '../rule.ts';
import { ofObjects } from './chart.ts';

type Fields = Readonly<Record<string, unknown>>;

const GROUP = { group: 'security', level: 'warning', onlyWith: 'restricted' } as const;
const ENDS_BY_ITSELF = new Set(['Job', 'CronJob']);
const HAS_REPLICAS = new Set(['Deployment', 'StatefulSet']);

/** A rule about each container of each pod. */
function ofContainers(check: (container: Fields, pod: Fields) => string | undefined): Check {
  return ofObjects((object) => {
    const pod = podSpecOf(object);
    if (pod === undefined) return [];
    return containersOf(pod).flatMap((container) => {
      const problem = check(container, pod);
      return problem === undefined ? [] : [`container ${String(container['name'])} ${problem}`];
    });
  });
}

/** A rule about each pod. */
function ofPods(check: (pod: Fields, object: RenderedObject) => Iterable<string>): Check {
  return ofObjects((object) => {
    const pod = podSpecOf(object);
    return pod === undefined ? [] : check(pod, object);
  });
}

/** What a container has set, or else its pod. */
function securitySetting(container: Fields, pod: Fields, name: string): unknown {
  return fieldsOf(container['securityContext'])[name] ?? fieldsOf(pod['securityContext'])[name];
}

/** Rules of the profile `restricted`. */
export const SECURITY_RULES: readonly Rule[] = [
  {
    ...GROUP,
    code: 'run-as-non-root',
    summary: 'Containers do not run as root.',
    explanation: 'Set `securityContext.runAsNonRoot: true` for the pod or the container.',
    check: ofContainers((container, pod) =>
      securitySetting(container, pod, 'runAsNonRoot') === true ? undefined : 'may run as root',
    ),
  },
  {
    ...GROUP,
    code: 'read-only-root',
    summary: 'The root file system of containers is read-only.',
    explanation:
      'Set `securityContext.readOnlyRootFilesystem: true`, and mount an emptyDir where the program writes.',
    check: ofContainers((container) =>
      fieldsOf(container['securityContext'])['readOnlyRootFilesystem'] === true
        ? undefined
        : 'can write to its root file system',
    ),
  },
  {
    ...GROUP,
    code: 'privilege-escalation',
    summary: 'Containers cannot gain privileges.',
    explanation: 'Set `securityContext.allowPrivilegeEscalation: false`, and do not set `privileged`.',
    check: ofContainers((container) => {
      const context = fieldsOf(container['securityContext']);
      if (context['privileged'] === true) return 'is privileged';
      return context['allowPrivilegeEscalation'] === false ? undefined : 'may gain privileges';
    }),
  },
  {
    ...GROUP,
    code: 'seccomp-profile',
    summary: 'Containers have a seccomp profile.',
    explanation: 'Set `securityContext.seccompProfile.type: RuntimeDefault` for the pod.',
    check: ofContainers((container, pod) => {
      const { type } = fieldsOf(securitySetting(container, pod, 'seccompProfile'));
      return type === 'RuntimeDefault' || type === 'Localhost' ? undefined : 'has no seccomp profile';
    }),
  },
  {
    ...GROUP,
    code: 'host-access',
    summary: 'Pods do not use namespaces, ports and paths of the node.',
    explanation:
      'Remove `hostNetwork`, `hostPID`, `hostIPC`, `hostPort` and `hostPath`, or exclude the finding with a reason.',
    check: ofPods(function* (pod) {
      for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) if (pod[name] === true) yield `sets ${name}`;
      for (const volume of listOf(pod['volumes']))
        if (volume['hostPath'] !== undefined)
          yield `mounts a path of the node as volume ${String(volume['name'])}`;
      for (const container of containersOf(pod))
        for (const port of listOf(container['ports']))
          if (port['hostPort'] !== undefined)
            yield `uses the port ${JSON.stringify(port['hostPort'])} of the node`;
    }),
  },
  {
    ...GROUP,
    code: 'resources-missing',
    summary: 'Containers request CPU and memory, and have a memory limit.',
    explanation: 'Without them a pod takes what others need, and is evicted first. Set `resources`.',
    check: ofContainers(({ resources }) => {
      const { requests, limits } = fieldsOf(resources);
      const lacking = [
        ...(fieldsOf(requests)['cpu'] === undefined ? ['requests.cpu'] : []),
        ...(fieldsOf(requests)['memory'] === undefined ? ['requests.memory'] : []),
        ...(fieldsOf(limits)['memory'] === undefined ? ['limits.memory'] : []),
      ];
      return lacking.length === 0 ? undefined : `has no ${lacking.join(', ')}`;
    }),
  },
  {
    ...GROUP,
    code: 'probes-missing',
    summary: 'Containers that keep running have a readiness probe.',
    explanation: 'Without `readinessProbe` a pod gets requests before it can serve them.',
    check: ofPods(function* (pod, { kind }) {
      if (ENDS_BY_ITSELF.has(kind)) return;
      for (const { name, readinessProbe } of listOf(pod['containers']))
        if (readinessProbe === undefined) yield `container ${String(name)} has no readinessProbe`;
    }),
  },
  {
    ...GROUP,
    code: 'wildcard-rbac',
    summary: 'Roles name verbs, resources and API groups.',
    explanation: 'With `*` a role grants what is added to the cluster later, too. Name what is needed.',
    check: ofObjects(function* ({ kind, object }) {
      if (kind !== 'Role' && kind !== 'ClusterRole') return;
      for (const rule of listOf(object['rules']))
        for (const key of ['verbs', 'resources', 'apiGroups'])
          if (Array.isArray(rule[key]) && rule[key].includes('*')) yield `grants all ${key}`;
    }),
  },
  {
    ...GROUP,
    code: 'account-missing',
    summary: 'Bindings of roles and pods name accounts that the chart has.',
    explanation:
      'An account that does not exist keeps pods from being created. Add the ServiceAccount, or exclude the finding with the reason why it exists.',
    check: missingAccounts,
  },
  {
    ...GROUP,
    code: 'pdb-missing',
    summary: 'Workloads with several replicas have a PodDisruptionBudget.',
    explanation: 'Without one a drain of nodes may end all replicas at once.',
    check: function* (module) {
      const objects = allObjects(module);
      if (objects.some(({ kind }) => kind === 'PodDisruptionBudget')) return;
      for (const { kind, object, template, title } of objects)
        if (HAS_REPLICAS.has(kind) && Number(fieldsOf(object['spec'])['replicas'] ?? 1) > 1)
          yield {
            path: template,
            object: title,
            message: 'has several replicas, but no PodDisruptionBudget',
          };
    },
  },
];

function* missingAccounts(module: LintFacts): Iterable<Found> {
  const objects = allObjects(module);
  const accounts = new Set(objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name));
  const isMissing = (name: unknown): boolean =>
    typeof name === 'string' && name !== 'default' && !accounts.has(name);
  for (const each of objects) {
    const { kind, object, template, title } = each;
    const named = [
      podSpecOf(each)?.['serviceAccountName'],
      ...(kind.endsWith('RoleBinding')
        ? listOf(object['subjects'])
            .filter((subject) => subject['kind'] === 'ServiceAccount')
            .map(({ name }) => name)
        : []),
    ];
    for (const name of named.filter(isMissing))
      yield {
        path: template,
        object: title,
        message: `names the account ${String(name)}, which the chart does not have`,
      };
  }
}
