import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeTree } from '../../../test/support/world-files.ts';
import { parseObjects, readObjectFiles } from './object-files.ts';

const object = (kind: string, name: string): string =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;

test('documents are read one by one, empty ones are skipped, and lists are taken apart', () => {
  const text = `---\n# nothing\n---\n${object('Pod', 'a')}---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n- {apiVersion: v1, kind: Pod, metadata: {name: c}}\n`;
  expect(parseObjects(text, 'f').map(({ metadata }) => metadata['name'])).toEqual(['a', 'b', 'c']);
});

test.each([
  [
    `${object('Pod', 'a')}---\nkind: Pod\n`,
    'f:4: not a Kubernetes object: apiVersion, metadata.name missing',
  ],
  ['- a\n', 'f:1: not a Kubernetes object: apiVersion, kind, metadata.name missing'],
  [`${object('Pod', 'a')}---\na: [\n`, /f:[5-7]: /],
])('%j is refused with file and line', (text, message) => {
  expect(() => parseObjects(text, 'f')).toThrow(message);
});

test('files of a directory are read in order of their names, namespaces and CRDs come first', async () => {
  const root = mkdtempSync(join(tmpdir(), 'objects-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  await writeTree(root, {
    'dir/b.yaml': `${object('Namespace', 'shop')}---\n${object('Pod', 'b')}`,
    'dir/a.json': '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}',
    'dir/notes.txt': 'no objects',
    'crd.yml': object('CustomResourceDefinition', 'things'),
  });
  const read = await readObjectFiles([join(root, 'dir'), join(root, 'crd.yml')]);
  expect(read.map(({ metadata }) => metadata['name'])).toEqual(['shop', 'things', 'a', 'b']);
  await expect(readObjectFiles([join(root, 'none.yaml')])).rejects.toThrow(
    /cannot read .*none\.yaml: .*ENOENT/,
  );
});
