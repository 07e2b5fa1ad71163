import { describe, expect, test } from 'vitest';
import type { FieldRequirement, LabelSelector } from '../../hooks/kubernetes-binding.ts';
import { fieldSelectorQuery, labelSelectorQuery, matchesFields, matchesLabels } from './selectors.ts';

const LABELS = { app: 'web', tier: '' };

describe('label selectors', () => {
  test.each<[LabelSelector | undefined, string | undefined, boolean]>([
    [undefined, undefined, true],
    [{}, undefined, true],
    [{ matchLabels: { app: 'web', tier: '' } }, 'app=web,tier=', true],
    [{ matchLabels: { app: 'db' } }, 'app=db', false],
    [{ matchLabels: { other: '' } }, 'other=', false],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }, 'app in (db,web)', true],
    [{ matchExpressions: [{ key: 'other', operator: 'In', values: ['x'] }] }, 'other in (x)', false],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, 'app notin (web)', false],
    [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['x'] }] }, 'other notin (x)', true],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, 'tier', true],
    [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, '!tier', false],
    [
      { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'other', operator: 'Exists' }] },
      'app=web,other',
      false,
    ],
  ])('%j is asked for as %j and matches: %j', (selector, query, isMatch) => {
    expect(labelSelectorQuery(selector)).toBe(query);
    expect(matchesLabels(selector, LABELS)).toBe(isMatch);
  });

  test('an object without labels matches what demands none', () => {
    expect(matchesLabels({ matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] })).toBe(true);
    expect(matchesLabels({ matchLabels: { constructor: 'x' } })).toBe(false);
  });
});

describe('field selectors', () => {
  const pod = { metadata: { name: 'one', namespace: 'a' }, spec: { nodeName: 'n=1', replicas: 3 } };

  test.each<[readonly FieldRequirement[] | undefined, string | undefined, boolean]>([
    [undefined, undefined, true],
    [[], undefined, true],
    [[{ field: 'metadata.name', operator: '=', value: 'one' }], 'metadata.name=one', true],
    [[{ field: 'metadata.name', operator: '==', value: 'two' }], 'metadata.name=two', false],
    [[{ field: 'metadata.name', operator: 'NotEquals', value: 'one' }], 'metadata.name!=one', false],
    [[{ field: 'spec.nodeName', operator: 'Equals', value: 'n=1' }], String.raw`spec.nodeName=n\=1`, true],
    [[{ field: 'spec.replicas', operator: '=', value: '3' }], 'spec.replicas=3', true],
    [[{ field: 'status.phase', operator: '!=', value: 'Running' }], 'status.phase!=Running', true],
    [[{ field: 'status.phase', operator: '=', value: '' }], 'status.phase=', true],
    [
      [
        { field: 'metadata.name', operator: '=', value: 'one' },
        { field: 'metadata.namespace', operator: '!=', value: 'a' },
      ],
      'metadata.name=one,metadata.namespace!=a',
      false,
    ],
  ])('%j is asked for as %j and matches: %j', (requirements, query, isMatch) => {
    expect(fieldSelectorQuery(requirements)).toBe(query);
    expect(matchesFields(requirements, pod)).toBe(isMatch);
  });

  test('a name is one more condition', () => {
    expect(fieldSelectorQuery(undefined, 'one')).toBe('metadata.name=one');
    expect(fieldSelectorQuery([{ field: 'spec.x', operator: '!=', value: 'a,b' }], 'one')).toBe(
      String.raw`spec.x!=a\,b,metadata.name=one`,
    );
  });
});
