import {
  APPLY,
  CONFIG_MAPS,
  configMap,
  DEPLOYMENT,
  DEPLOYMENTS,
  get,
  JSON_PATCH,
  loosely,
  MERGE,
  patch,
  post,
  put,
  type Script,
  STRATEGIC,
} from './script.ts';

export const APPLY_SCRIPTS: readonly Script[] = [
  {
    name: 'server-side apply',
    steps: [
      patch(
        `${CONFIG_MAPS}/a?fieldManager=helm&fieldValidation=Strict&force=false`,
        APPLY,
        configMap('a', { a: '1', b: '2' }),
      ),
      patch(
        `${CONFIG_MAPS}/a?fieldManager=helm&fieldValidation=Strict&force=false`,
        APPLY,
        configMap('a', { a: '1', b: '2' }),
      ),
      patch(`${CONFIG_MAPS}/a?fieldManager=helm`, APPLY, configMap('a', { a: '1' })),
      patch(`${CONFIG_MAPS}/a?fieldManager=kubectl-patch`, MERGE, { data: { a: '9', c: '3' } }),
      patch(`${CONFIG_MAPS}/a?fieldManager=helm`, APPLY, configMap('a', { a: '1' })),
      patch(`${CONFIG_MAPS}/a?fieldManager=helm&force=true`, APPLY, configMap('a', { a: '1' })),
      patch(`${CONFIG_MAPS}/a?fieldManager=other`, APPLY, configMap('a', { a: '1', d: '4' })),
      patch(`${CONFIG_MAPS}/a?fieldManager=other`, APPLY, configMap('a', { d: '5' })),
      patch(`${CONFIG_MAPS}/a`, APPLY, configMap('a')),
      patch(`${CONFIG_MAPS}/a?fieldManager=helm`, APPLY, configMap('b')),
      loosely(
        patch(`${CONFIG_MAPS}/a?fieldManager=helm`, APPLY, configMap('a', {}, { managedFields: [{}] })),
      ),
      loosely(patch(`${CONFIG_MAPS}/a?fieldManager=helm`, APPLY, { metadata: { name: 'a' } })),
      patch(
        `${CONFIG_MAPS}/a?fieldManager=helm&dryRun=All&force=true`,
        APPLY,
        configMap('a', { dry: 'run' }),
      ),
      get(`${CONFIG_MAPS}/a`),
    ],
  },
  {
    name: 'server-side apply of a Deployment',
    steps: [
      patch(`${DEPLOYMENTS}/web?fieldManager=helm`, APPLY, DEPLOYMENT),
      patch(`${DEPLOYMENTS}/web?fieldManager=helm`, APPLY, DEPLOYMENT),
      patch(`${DEPLOYMENTS}/web?fieldManager=side`, APPLY, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=helm`, APPLY, {
        ...DEPLOYMENT,
        spec: {
          ...DEPLOYMENT.spec,
          template: {
            ...DEPLOYMENT.spec.template,
            spec: { containers: [{ name: 'main', image: 'nginx:1.28', env: [{ name: 'A', value: '2' }] }] },
          },
        },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=side`, APPLY, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'main', image: 'other' }] } } },
      }),
      patch(`${DEPLOYMENTS}/web/scale?fieldManager=scaler`, MERGE, { spec: { replicas: 0 } }),
      get(`${DEPLOYMENTS}/web`),
    ],
  },
  {
    name: 'the order of merged lists',
    steps: [
      ['a', 'b', 'c', 'd'],
      ['c', 'a'],
      ['d', 'x', 'a', 'c'],
      ['y', 'x', 'd'],
      ['b', 'y', 'z', 'x'],
    ].map((names, index) =>
      patch(`${DEPLOYMENTS}/web?force=true&fieldManager=manager-${index}`, APPLY, {
        ...DEPLOYMENT,
        spec: {
          ...DEPLOYMENT.spec,
          template: {
            ...DEPLOYMENT.spec.template,
            spec: {
              containers: [{ name: 'main', image: 'a', env: names.map((name) => ({ name, value: 'x' })) }],
            },
          },
        },
      }),
    ),
  },
  {
    name: 'managed fields of many kinds of change',
    steps: [
      post(`${DEPLOYMENTS}?fieldManager=kubectl-client-side-apply`, DEPLOYMENT),
      patch(`${DEPLOYMENTS}/web?fieldManager=kubectl-set`, STRATEGIC, {
        spec: { template: { spec: { containers: [{ name: 'main', env: [{ name: 'X', value: 'y' }] }] } } },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=kubectl-rollout`, STRATEGIC, {
        spec: { template: { metadata: { annotations: { restarted: 'now' } } } },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=kubectl-label`, MERGE, {
        metadata: { labels: { a: 'b', app: null } },
      }),
      put(`${DEPLOYMENTS}/web?fieldManager=kubectl-replace`, DEPLOYMENT),
      patch(`${DEPLOYMENTS}/web?fieldManager=migrator`, JSON_PATCH, [
        { op: 'replace', path: '/metadata/managedFields', value: [{}] },
      ]),
      patch(`${DEPLOYMENTS}/web?fieldManager=later`, MERGE, { metadata: { labels: { later: 'on' } } }),
      get(`${DEPLOYMENTS}/web`),
    ],
  },
  {
    name: 'managed fields of elements that are owned as a whole',
    steps: [
      patch('/api/v1/namespaces/{ns}/serviceaccounts/runner?fieldManager=helm', APPLY, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'runner' },
        imagePullSecrets: [{ name: 'registry' }],
        secrets: [{ name: 'token' }],
      }),
      patch('/api/v1/namespaces/{ns}/serviceaccounts/runner?fieldManager=owner', MERGE, {
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b' }] },
      }),
    ],
  },
];
