import {
  about,
  binary,
  deployment,
  describeRules,
  manifest,
  type RuleRow,
  rendered,
  typed,
} from '../../../../test/support/lint-rules.ts';
import { CHART_RULES } from './chart.ts';

const configMap = (name: string, data = '{}'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: ${data}`;

const ROWS: readonly RuleRow[] = [
  { rule: 'render-differs', what: 'equal renderings', ...rendered(configMap('a')), found: [] },
  {
    rule: 'render-differs',
    what: 'an object that changes with some values',
    parsed: {
      renderings: [
        {
          valuesFile: 'tests/values/a.yaml',
          manifests: [
            manifest(configMap('a', '{x: "1"}'), configMap('b')),
            manifest(configMap('a', '{x: "2"}'), configMap('b')),
          ],
        },
      ],
    },
    found: [about('renders differently each time with tests/values/a.yaml', 'v1/shop/ConfigMap/a')],
  },
  {
    rule: 'render-differs',
    what: 'text around the objects that changes',
    parsed: {
      renderings: [{ valuesFile: '', manifests: [`# 1\n${configMap('a')}`, `# 2\n${configMap('a')}`] }],
    },
    found: [['templates', 'renders differently each time']],
  },
  { rule: 'object-twice', what: 'two objects', ...rendered(configMap('a'), configMap('b')), found: [] },
  {
    rule: 'object-twice',
    what: 'one object three times',
    ...rendered(configMap('a'), configMap('a'), configMap('a')),
    found: [about('is rendered by templates/a.yaml too', 'v1/shop/ConfigMap/a')],
  },
  {
    rule: 'namespace-missing',
    what: 'an object of the cluster, and a kind that is not built in',
    ...rendered(
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}',
      'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: web}',
    ),
    found: [],
  },
  {
    rule: 'namespace-missing',
    what: 'a ConfigMap without a namespace',
    ...rendered('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}'),
    found: [about('has no namespace, so it comes to that of the operator', 'v1//ConfigMap/web')],
  },
  { rule: 'api-removed', what: 'a version that is served', ...rendered(deployment()), found: [] },
  {
    rule: 'api-removed',
    what: 'a version that is gone',
    ...rendered(typed('apps/v1beta1', 'Deployment')),
    found: [
      about(
        'apps/v1beta1 Deployment is not served since Kubernetes 1.16: use apps/v1',
        'apps/v1beta1/shop/Deployment/web',
      ),
    ],
  },
  {
    rule: 'api-deprecated',
    what: 'a version that is gone',
    ...rendered(typed('apps/v1beta1', 'Deployment')),
    found: [],
  },
  {
    rule: 'api-deprecated',
    what: 'a version that is deprecated',
    ...rendered(typed('v1', 'Endpoints')),
    found: [
      about('v1 Endpoints is deprecated: use discovery.k8s.io/v1 EndpointSlice', 'v1/shop/Endpoints/web'),
    ],
  },
  { rule: 'crd-in-templates', what: 'other objects', ...rendered(configMap('a')), found: [] },
  {
    rule: 'crd-in-templates',
    what: 'a CRD',
    ...rendered(
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}',
    ),
    found: [
      about(
        'is deleted with the release, and all objects of its kind with it',
        'apiextensions.k8s.io/v1//CustomResourceDefinition/a.example.com',
      ),
    ],
  },
  {
    rule: 'release-near-limit',
    what: 'a large file that helm does not pack',
    files: [binary('images/a.bin', 900 * 1024)],
    ...rendered(configMap('a')),
    found: [],
  },
  {
    rule: 'release-near-limit',
    what: 'a file of 600 KiB that is not compressed',
    files: [binary('files/a.bin', 600 * 1024)],
    parsed: { chartFiles: ['files/a.bin'], renderings: [{ valuesFile: '', manifests: ['', ''] }] },
    found: [['', 'a release takes about 800 KiB of the 1024 KiB that a Secret can have']],
  },
  {
    rule: 'image-not-pinned',
    what: 'a tag, and a registry with a port and a digest',
    ...rendered(deployment(', image: "host:5000/web@sha256:1"'), deployment()),
    found: [],
  },
  {
    rule: 'image-not-pinned',
    what: 'no tag behind the port of a registry, and latest',
    ...rendered(
      typed(
        'v1',
        'Pod',
        'spec: {initContainers: [{name: a, image: "host:5000/a"}], containers: [{name: b, image: "b:latest"}]}',
      ),
    ),
    found: [
      about('image host:5000/a is not pinned', 'v1/shop/Pod/web'),
      about('image b:latest is not pinned', 'v1/shop/Pod/web'),
    ],
  },
  {
    rule: 'image-without-digest',
    what: 'a digest',
    ...rendered(typed('v1', 'Pod', 'spec: {containers: [{name: a, image: "a@sha256:1"}]}')),
    found: [],
  },
  {
    rule: 'image-without-digest',
    what: 'a tag',
    ...rendered(deployment()),
    found: [about('image web:1.0 has no digest')],
  },
];

describeRules(CHART_RULES, ROWS, ['render-fails']);
