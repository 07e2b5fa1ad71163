import { describe, expect, test } from 'vitest';
import type { FieldRequirement, LabelSelector } from '../../hook-config/kubernetes-binding.ts';
import { fieldSelectorQuery, labelSelectorQuery } from './selectors.ts';

describe('label selectors', () => {
  test.each<[LabelSelector | undefined, string | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ matchLabels: { app: 'web', tier: '' } }, 'app=web,tier='],
    [{ matchLabels: { app: 'db' } }, 'app=db'],
    [{ matchLabels: { other: '' } }, 'other='],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }, 'app in (db,web)'],
    [{ matchExpressions: [{ key: 'other', operator: 'In', values: ['x'] }] }, 'other in (x)'],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, 'app notin (web)'],
    [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['x'] }] }, 'other notin (x)'],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, 'tier'],
    [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, '!tier'],
    [
      { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'other', operator: 'Exists' }] },
      'app=web,other',
    ],
  ])('%j is sent as %j', (selector, query) => {
    expect(labelSelectorQuery(selector)).toBe(query);
  });
});

describe('field selectors', () => {
  test.each<[readonly FieldRequirement[] | undefined, string | undefined]>([
    [undefined, undefined],
    [[], undefined],
    [[{ field: 'metadata.name', operator: '=', value: 'one' }], 'metadata.name=one'],
    [[{ field: 'metadata.name', operator: '==', value: 'two' }], 'metadata.name=two'],
    [[{ field: 'metadata.name', operator: 'NotEquals', value: 'one' }], 'metadata.name!=one'],
    [[{ field: 'spec.nodeName', operator: 'Equals', value: 'n=1' }], String.raw`spec.nodeName=n\=1`],
    [[{ field: 'spec.replicas', operator: '=', value: '3' }], 'spec.replicas=3'],
    [[{ field: 'status.phase', operator: '!=', value: 'Running' }], 'status.phase!=Running'],
    [[{ field: 'status.phase', operator: '=', value: '' }], 'status.phase='],
    [
      [
        { field: 'metadata.name', operator: '=', value: 'one' },
        { field: 'metadata.namespace', operator: '!=', value: 'a' },
      ],
      'metadata.name=one,metadata.namespace!=a',
    ],
  ])('%j is sent as %j', (requirements, query) => {
    expect(fieldSelectorQuery(requirements)).toBe(query);
  });

  test('a name is one more condition', () => {
    expect(fieldSelectorQuery(undefined, 'one')).toBe('metadata.name=one');
    expect(fieldSelectorQuery([{ field: 'spec.x', operator: '!=', value: 'a,b' }], 'one')).toBe(
      String.raw`spec.x!=a\,b,metadata.name=one`,
    );
  });
});
