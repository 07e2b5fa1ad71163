import { isObject } from '@addon-operator/json';
import { BASES, C, type Change, type Kind } from './judged-bases.ts';
import { DATA_CHANGES } from './judged-data.ts';
import { EVENT_CHANGES } from './judged-events.ts';
import { POD_CHANGES } from './judged-pods.ts';
import { SERVICE_CHANGES } from './judged-services.ts';
import { WORKLOAD_CHANGES } from './judged-workloads.ts';

/** An object that both servers judge: created as a dry run, or created and then replaced. */
export interface JudgedObject {
  readonly title: string;
  /** Path of the collection; `{ns}` is the namespace of the test. */
  readonly path: string;
  readonly object: Readonly<Record<string, unknown>>;
  /** Replaces the object after it was created; its name is that of the object. */
  readonly replacement?: Readonly<Record<string, unknown>>;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Whether messages of a failure are left out of the comparison; default false. */
  readonly isLoose?: boolean;
}

/** All of them, by kind. */
const CHANGES: Readonly<Record<Kind, readonly (readonly Change[])[]>> = {
  ...DATA_CHANGES,
  ...EVENT_CHANGES,
  ...POD_CHANGES,
  ...SERVICE_CHANGES,
  ...WORKLOAD_CHANGES,
};

/** Replacements of objects that exist. */
const UPDATES: readonly (readonly [Kind, readonly Change[], readonly Change[]])[] = [
  [
    'deployment',
    [],
    [
      ['spec.selector', { matchLabels: { app: 'web', tier: 'x' } }],
      ['spec.template.metadata.labels', { app: 'web', tier: 'x' }],
    ],
  ],
  ['deployment', [], [['spec.replicas', -1]]],
  ['deployment', [], [[`${C}.image`, 'nginx:1.28']]],
  [
    'daemonSet',
    [],
    [
      ['spec.selector', { matchLabels: { app: 'web', tier: 'x' } }],
      ['spec.template.metadata.labels', { app: 'web', tier: 'x' }],
    ],
  ],
  ['statefulSet', [], [['spec.serviceName', 'other']]],
  ['statefulSet', [], [['spec.podManagementPolicy', 'Parallel']]],
  ['statefulSet', [], [['spec.replicas', 3]]],
  ['configMap', [['immutable', true]], [['data', { a: '2' }]]],
  ['configMap', [['immutable', true]], [['immutable', undefined]]],
  ['configMap', [], [['data', { 'a b': 'x' }]]],
  ['configMap', [], [['metadata.labels', { 'a b': 'x' }]]],
  ['secret', [], [['type', 'example.com/other']]],
  ['secret', [['immutable', true]], [['stringData', { a: '2' }]]],
  ['service', [], [['spec.ports.0.port', 0]]],
  ['binding', [], [['roleRef.name', 'other']]],
  ['role', [], [['rules.0.verbs', []]]],
  ['coreEvent', [], [['reason', 'Changed']]],
  ['coreEvent', [], [['involvedObject.namespace', 'other']]],
  ['coreEvent', [], [['metadata.labels', { 'a b': 'x' }]]],
  ['event', [], [['series', { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' }]]],
  ['event', [], [['series', { count: 1 }]]],
  ['event', [], [['metadata.labels', { 'a b': 'x' }]]],
  ['event', [], [['reason', 'Changed']]],
  ['event', [], [['regarding.name', 'other']]],
  ['event', [], [['related', { kind: 'ConfigMap', name: 'b' }]]],
  [
    'event',
    [],
    [
      ['note', 'changed'],
      ['type', 'Warning'],
      ['action', 'Stop'],
      ['eventTime', '2026-01-02T03:04:06.000000Z'],
      ['reportingController', 'example.com/other'],
      ['reportingInstance', 'test-2'],
      ['deprecatedCount', 2],
      ['deprecatedSource', { component: 'test' }],
      ['deprecatedLastTimestamp', '2026-01-02T03:04:06Z'],
    ],
  ],
  ['ingress', [], [['spec.rules.0.host', 'Bad_Host']]],
  ['cronJob', [], [['spec.schedule', 'never']]],
  ['budget', [], [['spec.minAvailable', -1]]],
  ...(
    [
      'configMap',
      'secret',
      'service',
      'account',
      'claim',
      'pod',
      'deployment',
      'statefulSet',
      'daemonSet',
      'cronJob',
      'ingress',
      'policy',
      'autoscaler',
      'role',
      'binding',
    ] as const
  ).map((kind) => [kind, [], [['metadata.labels', { 'a b': 'c' }]]] as const),
  ['gadget', [], [['spec.size', 2]]],
  ['lease', [], [['spec.holderIdentity', 'you']]],
];

/** Replacements whose messages end with a comparison of internal types. */
const LOOSE_UPDATES: typeof UPDATES = [
  ['claim', [], [['spec.accessModes', ['ReadWriteMany']]]],
  ['pod', [], [['spec.hostname', 'x']]],
  ['job', [], [['spec.completions', 3]]],
  ['job', [], [[`${C}.image`, 'b']]],
];

export const JUDGED_OBJECTS: readonly JudgedObject[] = [
  ...Object.entries(CHANGES).flatMap(([kind, variants]) =>
    variants.flatMap((changes) => {
      const { path, object } = BASES[kind as Kind];
      const judged = { path, object: changed(object, changes) };
      const title = `${kind} ${titleOf(changes)}`;
      return [
        { ...judged, title, fieldValidation: 'Strict' as const },
        ...(/strange|imgae|nothing|replica"?$/.test(title)
          ? (['Warn', 'Ignore'] as const).map((fieldValidation) => ({
              ...judged,
              title: `${title} ${fieldValidation}`,
              fieldValidation,
            }))
          : []),
      ];
    }),
  ),
  ...[...UPDATES, ...LOOSE_UPDATES].map((update, index) => {
    const [kind, first, then] = update;
    const { path, object } = BASES[kind];
    const named = { ...object, metadata: { name: `judged-${index}` } };
    const created = changed(named, first);
    return {
      path,
      object: created,
      replacement: changed(created, then),
      title: `${kind} ${titleOf(first)} then ${titleOf(then)}`,
      fieldValidation: 'Strict' as const,
      isLoose: LOOSE_UPDATES.includes(update),
    };
  }),
];

function titleOf(changes: readonly Change[]): string {
  if (changes.length === 0) return 'as it should be';
  return changes.map(([path, value]) => `${path}: ${JSON.stringify(value)?.slice(0, 80)}`).join(', ');
}

function changed(
  object: Readonly<Record<string, unknown>>,
  changes: readonly Change[],
): Readonly<Record<string, unknown>> {
  let result: unknown = object;
  for (const [path, value] of changes) result = withValue(result, path.split('.'), value);
  return isObject(result) ? result : {};
}

function withValue(owner: unknown, path: readonly string[], value: unknown): unknown {
  const [step = '', ...rest] = path;
  const isList = Array.isArray(owner);
  const current = isList ? owner[Number(step)] : isObject(owner) ? owner[step] : undefined;
  const next = rest.length === 0 ? value : withValue(current, rest, value);
  if (isList) return owner.map((item, index) => (index === Number(step) ? next : item));
  return { ...(isObject(owner) ? owner : {}), [step]: next };
}
