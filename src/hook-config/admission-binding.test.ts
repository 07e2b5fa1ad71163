import { expect, test } from 'vitest';
import { problemIn, v1 } from '../../test/support/hook-configs.ts';

const RULE = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] };

test('a validating item gets its defaults', async () => {
  const { admission } = await v1({ kubernetesValidating: [{ name: 'a.example.com' }] });
  expect(admission).toEqual([
    {
      type: 'kubernetesValidating',
      name: 'a.example.com',
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: 10,
      snapshotsFrom: [],
    },
  ]);
});

test('everything written is taken over, the group only for its snapshots', async () => {
  const labelSelector = { matchLabels: { a: 'b' } };
  const { admission } = await v1(
    {
      kubernetes: [
        { name: 'pods', kind: 'Pod' },
        { name: 'nodes', kind: 'Node', group: 'g' },
      ],
      kubernetesMutating: [
        {
          name: 'm',
          rules: [{ ...RULE, scope: 'Namespaced' }],
          failurePolicy: 'Ignore',
          sideEffects: 'NoneOnDryRun',
          timeoutSeconds: 99,
          matchConditions: [{ name: 'c', expression: 'true' }],
          labelSelector,
          namespace: { labelSelector },
          group: 'g',
          includeSnapshotsFrom: ['pods'],
        },
      ],
    },
    'global',
  );
  expect(admission).toEqual([
    {
      type: 'kubernetesMutating',
      name: 'm',
      rules: [{ ...RULE, scope: 'Namespaced' }],
      failurePolicy: 'Ignore',
      sideEffects: 'NoneOnDryRun',
      timeoutSeconds: 99,
      matchConditions: [{ name: 'c', expression: 'true' }],
      objectSelector: labelSelector,
      namespaceSelector: labelSelector,
      group: 'g',
      snapshotsFrom: [0, 1],
    },
  ]);
});

test('names of validating items must be domains of three segments, unique in the list', async () => {
  expect(await problemIn(v1({ kubernetesValidating: [{ name: 'foo' }] }))).toContain(
    'invalid kubernetesValidating config [0]: webhooks[0].name: Invalid value: "foo"',
  );
  const twice = { kubernetesValidating: [{ name: 'a.b.c' }, { name: 'a.b.c' }] };
  expect(await problemIn(v1(twice))).toContain('webhooks[1].name: Duplicate value: "a.b.c"');
  const mutating = await v1({ kubernetesMutating: [{ name: 'foo' }, { name: 'foo' }] });
  expect(mutating.admission).toHaveLength(2);
});

test('the time limit of validating items is 1 to 30 seconds', async () => {
  for (const timeoutSeconds of [0, 31])
    expect(await problemIn(v1({ kubernetesValidating: [{ name: 'a.b.c', timeoutSeconds }] }))).toContain(
      'must be from 1 to 30 seconds',
    );
});

test.each([
  [{ operations: ['*', 'CREATE'] }, '.operations: Invalid value: ["*","CREATE"]: if \'*\' is present'],
  [{ apiGroups: ['*', 'apps'] }, '.apiGroups: Invalid value'],
  [{ apiVersions: ['v1', '*'] }, '.apiVersions: Invalid value'],
  [{ apiVersions: [''] }, '.apiVersions[0]: Required value'],
  [{ resources: ['pods', ''] }, '.resources[1]: Required value'],
  [{ resources: ['*/*', 'pods'] }, "if '*/*' is present"],
  [{ resources: ['*', 'pods'] }, "if '*' is present"],
  [{ resources: ['pods/*', 'pods/status'] }, "if 'pods/*' is present, must not specify pods/status"],
  [{ resources: ['*/scale', 'pods/scale'] }, "if '*/scale' is present, must not specify pods/scale"],
])('the rule with %j is refused for validating items', async (part, problem) => {
  const rules = [{ ...RULE, ...part }];
  const message = await problemIn(v1({ kubernetesValidating: [{ name: 'a.b.c', rules }] }));
  expect(message).toContain('webhooks[0].rules[0]');
  expect(message).toContain(problem);
  expect((await v1({ kubernetesMutating: [{ name: 'a.b.c', rules }] })).admission).toHaveLength(1);
});

test.each([
  [{ resources: ['*', 'pods/status'] }],
  [{ resources: ['pods/status', 'pods/*'] }],
  [{ apiGroups: [''] }],
  [{ operations: ['*'] }],
])('the rule with %j is accepted', async (part) => {
  const rules = [{ ...RULE, ...part }];
  expect((await v1({ kubernetesValidating: [{ name: 'a.b.c', rules }] })).admission).toHaveLength(1);
});

test.each([
  [{ name: 'a.b.c', queue: 'q' }, 'kubernetesValidating.queue is a forbidden property'],
  [{}, 'kubernetesValidating.name is required'],
  [{ name: 'a.b.c', rules: [] }, 'kubernetesValidating.rules should have at least 1 items'],
  [{ name: 'a.b.c', rules: [{ ...RULE, operations: ['create'] }] }, 'should be one of'],
  [{ name: 'a.b.c', timeoutSeconds: 1.5 }, 'timeoutSeconds must be of type integer'],
  [{ name: 'a.b.c', namespace: { nameSelector: { matchNames: [] } } }, 'labelSelector is required'],
  [
    { name: 'a.b.c', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'labelSelector is invalid',
  ],
  [{ name: 'a.b.c', includeSnapshotsFrom: ['x'] }, "'x' binding name not found"],
])('%j is refused: %s', async (item, problem) => {
  expect(await problemIn(v1({ kubernetesValidating: [item] }))).toContain(problem);
});
