import { expect, test } from 'vitest';
import { Redactor } from '../lib/redactor.ts';
import { manifestChanges } from './manifest-changes.ts';
import { maskReplaced } from './mask-replaced.ts';

const redactor = new Redactor();
redactor.add('new-password');

test('maskReplaced() masks what stood where a secret stands now, and nothing else', () => {
  const before = { url: 'http://old-password@db', list: ['old-password', 'same'], color: 'red', gone: 1 };
  const after = { url: 'http://new-password@db', list: ['new-password', 'same'], color: 'blue' };
  expect(maskReplaced(before, after, { redactor, masksGone: false })).toEqual({
    url: '*** (before)',
    list: ['*** (before)', 'same'],
    color: 'red',
    gone: 1,
  });
});

test('maskReplaced() masks texts that are gone on request, in lists those that stand nowhere any more', () => {
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
