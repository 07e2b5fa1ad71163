import {
  about,
  deployment,
  describeRules,
  type RuleRow,
  rendered,
  typed,
} from '../../../../test/support/lint-rules.ts';
import { SECURITY_RULES } from './security.ts';

const ROWS: readonly RuleRow[] = [
  {
    rule: 'run-as-non-root',
    what: 'what the pod says',
    ...rendered(deployment('', 'securityContext: {runAsNonRoot: true}, ')),
    found: [],
  },
  {
    rule: 'run-as-non-root',
    what: 'a container that says otherwise than its pod',
    ...rendered(
      deployment(', securityContext: {runAsNonRoot: false}', 'securityContext: {runAsNonRoot: true}, '),
    ),
    found: [about('container web may run as root')],
  },
  {
    rule: 'read-only-root',
    what: 'a read-only root',
    ...rendered(deployment(', securityContext: {readOnlyRootFilesystem: true}')),
    found: [],
  },
  {
    rule: 'read-only-root',
    what: 'nothing set',
    ...rendered(deployment()),
    found: [about('container web can write to its root file system')],
  },
  {
    rule: 'privilege-escalation',
    what: 'no escalation',
    ...rendered(deployment(', securityContext: {allowPrivilegeEscalation: false}')),
    found: [],
  },
  {
    rule: 'privilege-escalation',
    what: 'nothing set',
    ...rendered(deployment()),
    found: [about('container web may gain privileges')],
  },
  {
    rule: 'privilege-escalation',
    what: 'a privileged container without escalation',
    ...rendered(deployment(', securityContext: {privileged: true, allowPrivilegeEscalation: false}')),
    found: [about('container web is privileged')],
  },
  {
    rule: 'seccomp-profile',
    what: 'a profile of the pod',
    ...rendered(deployment('', 'securityContext: {seccompProfile: {type: RuntimeDefault}}, ')),
    found: [],
  },
  {
    rule: 'seccomp-profile',
    what: 'Unconfined',
    ...rendered(deployment(', securityContext: {seccompProfile: {type: Unconfined}}')),
    found: [about('container web has no seccomp profile')],
  },
  {
    rule: 'host-access',
    what: 'a port of the container',
    ...rendered(deployment(', ports: [{containerPort: 80}]')),
    found: [],
  },
  {
    rule: 'host-access',
    what: 'network, path and port of the node',
    ...rendered(
      deployment(
        ', ports: [{hostPort: 80}]',
        'hostNetwork: true, volumes: [{name: v, hostPath: {path: /}}], ',
      ),
    ),
    found: [
      about('sets hostNetwork'),
      about('mounts a path of the node as volume v'),
      about('uses the port 80 of the node'),
    ],
  },
  {
    rule: 'resources-missing',
    what: 'no limit of CPU',
    ...rendered(deployment(', resources: {requests: {cpu: 1m, memory: 1Mi}, limits: {memory: 1Mi}}')),
    found: [],
  },
  {
    rule: 'resources-missing',
    what: 'a request of CPU only',
    ...rendered(deployment(', resources: {requests: {cpu: 1m}}')),
    found: [about('container web has no requests.memory, limits.memory')],
  },
  {
    rule: 'probes-missing',
    what: 'a probe, and a Job',
    ...rendered(
      deployment(', readinessProbe: {}'),
      typed('batch/v1', 'Job', 'spec: {template: {spec: {containers: [{name: a}]}}}'),
    ),
    found: [],
  },
  {
    rule: 'probes-missing',
    what: 'no probe',
    ...rendered(deployment()),
    found: [about('container web has no readinessProbe')],
  },
  {
    rule: 'wildcard-rbac',
    what: 'names',
    ...rendered(typed('rbac.authorization.k8s.io/v1', 'Role', 'rules: [{verbs: [get], resources: [pods]}]')),
    found: [],
  },
  {
    rule: 'wildcard-rbac',
    what: 'all verbs',
    ...rendered(typed('rbac.authorization.k8s.io/v1', 'Role', 'rules: [{verbs: ["*"], resources: [pods]}]')),
    found: [about('grants all verbs', 'rbac.authorization.k8s.io/v1/shop/Role/web')],
  },
  {
    rule: 'account-missing',
    what: 'an account of the chart, and default',
    ...rendered(
      typed('v1', 'ServiceAccount'),
      deployment('', 'serviceAccountName: web, '),
      typed('v1', 'Pod', 'spec: {serviceAccountName: default}'),
    ),
    found: [],
  },
  {
    rule: 'account-missing',
    what: 'a pod and a binding of a role without their account',
    ...rendered(
      deployment('', 'serviceAccountName: db, '),
      typed(
        'rbac.authorization.k8s.io/v1',
        'RoleBinding',
        'subjects: [{kind: ServiceAccount, name: cache}, {kind: User, name: ann}]',
      ),
    ),
    found: [
      about('names the account db, which the chart does not have'),
      about(
        'names the account cache, which the chart does not have',
        'rbac.authorization.k8s.io/v1/shop/RoleBinding/web',
      ),
    ],
  },
  {
    rule: 'pdb-missing',
    what: 'one replica',
    ...rendered(deployment()),
    found: [],
  },
  {
    rule: 'pdb-missing',
    what: 'two replicas with a budget',
    ...rendered(deployment('', '', 'replicas: 2, '), typed('policy/v1', 'PodDisruptionBudget')),
    found: [],
  },
  {
    rule: 'pdb-missing',
    what: 'two replicas without one',
    ...rendered(deployment('', '', 'replicas: 2, ')),
    found: [about('has several replicas, but no PodDisruptionBudget')],
  },
];

describeRules(SECURITY_RULES, ROWS, []);
