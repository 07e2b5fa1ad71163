import {
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
  remove,
  type Script,
  SERVICE,
  STRATEGIC,
} from './script.ts';

export const WRITE_SCRIPTS: readonly Script[] = [
  {
    name: 'updates and their preconditions',
    steps: [
      post(`${CONFIG_MAPS}?fieldManager=me`, configMap('a')),
      put(`${CONFIG_MAPS}/a?fieldManager=me`, configMap('a', { a: '2', b: '3' })),
      put(`${CONFIG_MAPS}/a?fieldManager=you`, configMap('a', { b: '4' })),
      put(`${CONFIG_MAPS}/a?fieldManager=you`, configMap('a', { b: '4' })),
      put(`${CONFIG_MAPS}/a`, configMap('a', {}, { resourceVersion: '1' })),
      loosely(put(`${CONFIG_MAPS}/a`, configMap('a', {}, { uid: '1' }))),
      put(`${CONFIG_MAPS}/a`, configMap('b')),
      put(`${CONFIG_MAPS}/a?dryRun=All`, configMap('a', { dry: 'run' })),
      get(`${CONFIG_MAPS}/a`),
      post(`${CONFIG_MAPS}?dryRun=All`, configMap('dry')),
      get(`${CONFIG_MAPS}/dry`),
      put(`${CONFIG_MAPS}/a`, { ...configMap('a', { b: '4' }), immutable: true }),
      put(`${CONFIG_MAPS}/a`, { ...configMap('a', { b: '5' }), immutable: true }),
    ],
  },
  {
    name: 'JSON and merge patches',
    steps: [
      post(`${CONFIG_MAPS}?fieldManager=me`, configMap('a', { a: '1', b: '2' })),
      patch(`${CONFIG_MAPS}/a?fieldManager=you`, MERGE, {
        data: { b: null, c: '3' },
        metadata: { labels: { x: 'y' } },
      }),
      patch(`${CONFIG_MAPS}/a?fieldManager=you`, JSON_PATCH, [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '9' },
        { op: 'add', path: '/metadata/annotations', value: { 'x/y': 'z' } },
        { op: 'copy', from: '/data/a', path: '/data/d' },
        { op: 'move', from: '/data/d', path: '/data/e' },
      ]),
      patch(`${CONFIG_MAPS}/a`, JSON_PATCH, [{ op: 'remove', path: '/metadata/annotations/x~1y' }]),
      patch(`${CONFIG_MAPS}/a`, JSON_PATCH, [{ op: 'test', path: '/data/a', value: 'zz' }]),
      patch(`${CONFIG_MAPS}/a`, JSON_PATCH, [{ op: 'remove', path: '/data/none' }]),
      patch(`${CONFIG_MAPS}/a`, JSON_PATCH, [{ op: 'add', path: '/none/x', value: 1 }]),
      patch(`${CONFIG_MAPS}/a`, JSON_PATCH, { op: 'add' }),
      patch(`${CONFIG_MAPS}/a`, MERGE, { metadata: { resourceVersion: '1' } }),
      loosely(patch(`${CONFIG_MAPS}/a`, MERGE, 'xx')),
      patch(`${CONFIG_MAPS}/a`, MERGE, []),
      patch(`${CONFIG_MAPS}/a`, 'application/json', {}),
      patch(`${CONFIG_MAPS}/a`, MERGE, {}),
      get(`${CONFIG_MAPS}/a`),
    ],
  },
  {
    name: 'strategic merge patches of a Deployment',
    steps: [
      post(`${DEPLOYMENTS}?fieldManager=helm`, DEPLOYMENT),
      patch(`${DEPLOYMENTS}/web?fieldManager=helm`, STRATEGIC, {
        spec: {
          template: {
            spec: {
              $setElementOrder: undefined,
              '$setElementOrder/containers': [{ name: 'main' }],
              containers: [
                {
                  name: 'main',
                  image: 'nginx:1.28',
                  '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }],
                  env: [
                    { name: 'C', value: '3' },
                    { name: 'B', $patch: 'delete' },
                  ],
                },
              ],
            },
          },
        },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=other`, STRATEGIC, {
        spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=other`, STRATEGIC, {
        spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=other`, STRATEGIC, {
        metadata: { finalizers: ['example.com/a'] },
      }),
      patch(`${DEPLOYMENTS}/web?fieldManager=other`, STRATEGIC, {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
      }),
      loosely(
        patch(`${DEPLOYMENTS}/web`, STRATEGIC, { spec: { selector: { matchLabels: { app: 'other' } } } }),
      ),
      get(`${DEPLOYMENTS}/web`),
      remove(`${DEPLOYMENTS}/web`, { propagationPolicy: 'Background' }),
    ],
  },
  {
    name: 'deletions, finalizers and owners',
    steps: [
      post(CONFIG_MAPS, configMap('plain')),
      { ...remove(`${CONFIG_MAPS}/plain?dryRun=All`) },
      loosely(remove(`${CONFIG_MAPS}/plain`, { preconditions: { uid: '12' } })),
      remove(`${CONFIG_MAPS}/plain`, { propagationPolicy: 'Bogus' }),
      remove(`${CONFIG_MAPS}/plain`, { propagationPolicy: 'Background' }),
      post(CONFIG_MAPS, configMap('held', {}, { finalizers: ['example.com/hold'] })),
      remove(`${CONFIG_MAPS}/held`, { propagationPolicy: 'Background' }),
      remove(`${CONFIG_MAPS}/held`),
      get(`${CONFIG_MAPS}/held`),
      patch(`${CONFIG_MAPS}/held`, MERGE, { metadata: { finalizers: null } }),
      get(`${CONFIG_MAPS}/held`),
      post(CONFIG_MAPS, configMap('foreground')),
      remove(`${CONFIG_MAPS}/foreground`, { propagationPolicy: 'Foreground' }),
      post('/api/v1/namespaces/{ns}/services', SERVICE),
      remove('/api/v1/namespaces/{ns}/services/web'),
      post('/api/v1/namespaces/{ns}/serviceaccounts', {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'runner' },
      }),
      remove('/api/v1/namespaces/{ns}/serviceaccounts/runner'),
    ],
  },
  {
    name: 'subresources',
    steps: [
      post(DEPLOYMENTS, DEPLOYMENT),
      get(`${DEPLOYMENTS}/web/scale`),
      patch(`${DEPLOYMENTS}/web/scale?fieldManager=scaler`, MERGE, { spec: { replicas: 0 } }),
      loosely(patch(`${DEPLOYMENTS}/web/scale`, MERGE, { spec: { replicas: -1 } })),
      get(`${DEPLOYMENTS}/web/nothing`),
      { ...get(`${DEPLOYMENTS}/web/status`), compare: 'status' },
      { method: 'DELETE', path: `${DEPLOYMENTS}/web/status`, compare: 'status' },
      get(`${CONFIG_MAPS}/kube-root-ca.crt/status`),
    ],
  },
];
