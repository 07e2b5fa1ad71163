import { Redactor } from '@addon-operator/masking/redactor';
import { expect, test } from 'vitest';
import { manifestChanges, maskReplaced, objectChange, objectsByTitle } from './manifest-changes.ts';

function configMap(name: string, value: string): string {
  return `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {key: ${value}}\n`;
}

function secret(data: string): string {
  return `---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: ${data}\n`;
}

test('objects are created, changed and deleted', () => {
  const before = configMap('gone', 'x') + configMap('kept', 'x') + configMap('other', 'old');
  const after = configMap('kept', 'x') + configMap('new', 'x') + configMap('other', 'young');
  const changes = manifestChanges(before, after, 'ns');
  expect(changes.map(({ change, object }) => `${change} ${object}`)).toEqual([
    'delete v1/ConfigMap ns/gone',
    'create v1/ConfigMap ns/new',
    'change v1/ConfigMap ns/other',
  ]);
  expect(changes[2]?.lines).toContainEqual({ type: 'removed', text: '  key: old' });
  expect(changes[2]?.lines).toContainEqual({ type: 'added', text: '  key: young' });
});

test('the order of keys and of documents changes nothing', () => {
  const left = configMap('a', 'x') + configMap('b', 'x');
  const right =
    '---\nkind: ConfigMap\nmetadata: {name: b}\ndata: {key: x}\napiVersion: v1\n' + configMap('a', 'x');
  expect(manifestChanges(left, right, 'ns')).toEqual([]);
});

test('a secret shows that a value differs, and none of its values', () => {
  const changes = manifestChanges(
    secret('{same: YQ==, other: Yg==}'),
    secret('{same: YQ==, other: Yw==, new: ZA==}'),
    'ns',
  );
  const text = JSON.stringify(changes);
  for (const value of ['YQ==', 'Yg==', 'Yw==', 'ZA==']) expect(text).not.toContain(value);
  const lines = changes[0]?.lines ?? [];
  expect(lines).toContainEqual({ type: 'removed', text: "  other: '*** (before)'" });
  expect(lines).toContainEqual({ type: 'added', text: "  other: '*** (after)'" });
  expect(lines).toContainEqual({ type: 'added', text: "  new: '***'" });
  expect(lines).toContainEqual({ type: 'same', text: "  same: '***'" });
});

test('the copy of a secret that kubectl keeps in an annotation is not shown', () => {
  const copy = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"pw":"YQ=="}}' };
  const left = { kind: 'Secret', metadata: { name: 's', annotations: { ...copy, team: 'a' } } };
  const right = { kind: 'Secret', metadata: { name: 's', annotations: { ...copy, team: 'b' } } };
  const change = objectChange('v1/Secret ns/s', left, right);
  expect(change?.lines).toContainEqual({ type: 'added', text: '    team: b' });
  expect(JSON.stringify(change)).not.toContain('YQ==');
});

test('hooks of helm are no part of a release', () => {
  const hook = '---\napiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {helm.sh/hook: test}}\n';
  expect(manifestChanges('', hook, 'ns')).toEqual([]);
});

test('scalars mean what they mean to helm', () => {
  const mode = (text: string) =>
    `---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {mode: ${text}, on: yes}\n`;
  expect(manifestChanges(mode('0644'), mode('420'), 'ns')).toEqual([]);
  expect(objectsByTitle(mode('0644'), 'ns').get('v1/Pod ns/p')).toMatchObject({
    spec: { mode: 420, on: true },
  });
});

const redactor = new Redactor();
redactor.add('new-password');

test('maskReplaced() masks what a secret has replaced, and nothing else', () => {
  const before = { url: 'http://old-password@db', list: ['old-password', 'same'], color: 'red', gone: 1 };
  const after = { url: 'http://new-password@db', list: ['new-password', 'same'], color: 'blue' };
  expect(maskReplaced(before, after, { redactor, masksGone: false })).toEqual({
    url: '*** (before)',
    list: ['*** (before)', 'same'],
    color: 'red',
    gone: 1,
  });
});

test('maskReplaced() masks removed strings on request, in lists those that are nowhere any more', () => {
  const before = {
    dsn: 'old-password',
    m: { a: 'old-password', n: 1 },
    list: ['x', 'old-password'],
    kept: 'k',
  };
  const after = { password: 'new-password', list: ['new-password', 'x'], kept: 'k' };
  expect(maskReplaced(before, after, { redactor, masksGone: true })).toEqual({
    dsn: '*** (before)',
    m: { a: '*** (before)', n: 1 },
    list: ['x', '*** (before)'],
    kept: 'k',
  });
});

test('manifestChanges() shows no old secret in a field from which the secret has moved away, and other values only then', () => {
  const map = (data: string): string =>
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: ${data}\n`;
  const other = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata: {dsn: new-password}\n';
  const shown = (after: string): string =>
    JSON.stringify(manifestChanges(map('{url: old-password, color: red}'), after, 'ns', { redactor }));
  expect(shown(map('{color: blue}') + other)).not.toContain('old-password');
  expect(shown(map('{color: blue}') + other)).toContain('color: red');
  expect(shown(map('{color: blue}'))).toContain('old-password');
});

test('manifestChanges() shows no secret that was replaced in a ConfigMap', () => {
  const manifest = (password: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {password: ${password}, color: red}\n`;
  const changes = manifestChanges(manifest('old-password'), manifest('new-password'), 'ns', { redactor });
  const texts = changes.flatMap(({ lines }) => lines).map((line) => JSON.stringify(line));
  expect(texts.join('\n')).not.toContain('old-password');
  expect(texts.join('\n')).toContain('*** (before)');
  expect(manifestChanges(manifest('new-password'), manifest('new-password'), 'ns', { redactor })).toEqual([]);
});

test('manifestChanges() shows no text that was replaced or is gone where each may have been a secret', () => {
  const manifest = (data: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: ${data}\n`;
  const before = manifest('{dsn: "user:old-password@db", gone: old-password, kept: k}');
  const changes = manifestChanges(before, manifest('{dsn: "user:none@db", kept: k}'), 'ns', {
    redactor,
    masksChanged: true,
  });
  const shown = JSON.stringify(changes);
  expect(shown).not.toContain('old-password');
  expect(shown).toContain('kept: k');
});
