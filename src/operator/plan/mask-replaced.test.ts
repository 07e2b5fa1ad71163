import { expect, test } from 'vitest';
import { Redactor } from '../../lib/redactor.ts';
import { manifestChanges } from './manifest-changes.ts';
import { maskReplaced } from './mask-replaced.ts';

const redactor = new Redactor();
redactor.add('new-password');

test('maskReplaced() masks what stood where a secret stands now, and nothing else', () => {
  const before = { url: 'http://old-password@db', list: ['old-password', 'same'], color: 'red', gone: 1 };
  const after = { url: 'http://new-password@db', list: ['new-password', 'same'], color: 'blue' };
  expect(maskReplaced(before, after, redactor)).toEqual({
    url: '*** (before)',
    list: ['*** (before)', 'same'],
    color: 'red',
    gone: 1,
  });
});

test('manifestChanges() shows no secret that was replaced in a ConfigMap', () => {
  const manifest = (password: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {password: ${password}, color: red}\n`;
  const changes = manifestChanges(manifest('old-password'), manifest('new-password'), 'ns', redactor);
  const texts = changes.flatMap(({ lines }) => lines).map((line) => JSON.stringify(line));
  expect(texts.join('\n')).not.toContain('old-password');
  expect(texts.join('\n')).toContain('*** (before)');
  expect(manifestChanges(manifest('new-password'), manifest('new-password'), 'ns', redactor)).toEqual([]);
});
