import { expect, test } from 'vitest';
import { type ChangedObject, netChanges, type ReportedChange } from './object-changes.ts';

const configMap = (data: Readonly<Record<string, string>>, version = '1'): ChangedObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'shop', resourceVersion: version, uid: 'u', managedFields: [] },
    data,
  }) as ChangedObject;

const one = configMap({ color: 'red' });
const two = configMap({ color: 'blue' }, '2');

const CASES: readonly (readonly [string, readonly ReportedChange[], readonly string[]])[] = [
  ['nothing', [], []],
  ['a new object', [{ type: 'added', object: one, previous: undefined }], ['created +color: red']],
  ['a change', [{ type: 'modified', object: two, previous: one }], ['changed -color: red+color: blue']],
  [
    'several changes of one object are one',
    [
      { type: 'added', object: one, previous: undefined },
      { type: 'modified', object: two, previous: one },
    ],
    ['created +color: blue'],
  ],
  ['a removal', [{ type: 'removed', object: two, previous: two }], ['deleted -color: blue']],
  [
    'an object that is gone again',
    [
      { type: 'added', object: one, previous: undefined },
      { type: 'removed', object: one, previous: one },
    ],
    [],
  ],
  [
    'fields that only the server sets',
    [{ type: 'modified', object: configMap({ color: 'red' }, '9'), previous: one }],
    [],
  ],
];

test.each(CASES)('netChanges(): %s', (_name, changes, expected) => {
  const said = netChanges(changes).map(({ change, object, lines }) => {
    expect(object).toBe('ConfigMap shop/a');
    const colors = lines.flatMap((line) =>
      line.type !== 'gap' && line.type !== 'same' && line.text.includes('color')
        ? [`${line.type === 'added' ? '+' : '-'}${line.text.trim()}`]
        : [],
    );
    return `${change} ${colors.join('')}`;
  });
  expect(said).toEqual(expected);
});
