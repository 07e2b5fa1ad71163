import { hasCode } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { parseYaml } from '@addon-operator/yaml';
import { expect, test } from 'vitest';
import { manifestObjects, transformManifest, withoutObjects } from './transform-manifest.ts';

const MANIFEST = `---
# Source: web/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  mode: "0644"
  text: |
    ---
    not a document
---
# nothing here
---
apiVersion: v1
kind: ConfigMapList
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: pre-upgrade}
`.replace('    ---\n', '    - - -\n');

function readYaml(text: string): unknown {
  return parseYaml(text, { source: 'manifest', booleans: 'yaml-1.1' }).value;
}

function transform(change: (objects: readonly KubeObject[]) => readonly KubeObject[]): Promise<string> {
  return transformManifest(MANIFEST, readYaml, async (objects) => await Promise.resolve(change(objects)));
}

function names(text: string): string[] {
  return manifestObjects(text, readYaml).map(({ metadata }) => metadata.name);
}

test('transformManifest() hands over all objects but those of helm hooks, lists unfolded', async () => {
  let seen: readonly KubeObject[] = [];
  await transform((objects) => {
    seen = objects;
    return objects;
  });
  expect(seen.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['ConfigMap', 'a'],
    ['ConfigMap', 'b'],
    ['ConfigMap', 'c'],
  ]);
});

test('transformManifest() keeps the text to the letter when the same objects come back', async () => {
  expect(await transform((objects) => objects)).toBe(MANIFEST);
  expect(await transform((objects) => structuredClone(objects))).toBe(MANIFEST);
});

test('transformManifest() writes what changed and keeps the text of everything else, hooks of helm included', async () => {
  const text = await transform((objects) =>
    objects.map((object) => (object.metadata.name === 'a' ? { ...object, data: { on: 'yes' } } : object)),
  );
  expect(manifestObjects(text, readYaml)[0]).toMatchObject({ data: { on: 'yes' } });
  expect(text).toContain('kind: ConfigMapList\nitems:\n  - {');
  expect(text).toContain('annotations: {helm.sh/hook: pre-upgrade}');
  expect(text).not.toContain('0644');
});

test('transformManifest() changes one object of a list and keeps the other', async () => {
  const text = await transform((objects) =>
    objects.map((object) => (object.metadata.name === 'b' ? { ...object, data: { x: '1' } } : object)),
  );
  expect(names(text)).toEqual(['a', 'b', 'c']);
  expect(manifestObjects(text, readYaml)[1]).toMatchObject({ data: { x: '1' } });
});

test('transformManifest() leaves out what did not come back and adds what is new', async () => {
  const added = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new' } };
  const text = await transform((objects) => [...objects.slice(1), added]);
  expect(names(text)).toEqual(['b', 'c', 'new']);
});

test('transformManifest() treats a renamed object as another one', async () => {
  const text = await transform((objects) =>
    objects.map((object) => ({ ...object, metadata: { name: `x-${object.metadata.name}` } })),
  );
  expect(names(text)).toEqual(['x-a', 'x-b', 'x-c']);
});

test('transformManifest() keeps each digit of integers, and says which object cannot be read', async () => {
  const manifestOf = (number: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\nnumber: ${number}\n`;
  const changed = await transformManifest(manifestOf('12345678901234567890'), readYaml, async (all) =>
    all.map((object) => ({ ...object, added: 1 })),
  );
  expect(changed).toContain('"number":12345678901234567890');
  const error: unknown = await transformManifest(manifestOf('1e999'), readYaml, async (all) => all).catch(
    (thrown: unknown) => thrown,
  );
  const message = hasCode(error, 'HELM_FAILED') && error.message;
  expect(message).toContain('ConfigMap "big"');
  expect(message).toContain('at number: numbers must be finite');
});

test('withoutObjects() takes out the given objects and nothing else', async () => {
  const objects = manifestObjects(MANIFEST, readYaml).filter(({ metadata }) => metadata.name !== 'a');
  const text = await withoutObjects(MANIFEST, readYaml, objects);
  expect(names(text)).toEqual(['a']);
  expect(text).toContain('mode: "0644"');
  expect(text.split(/^---$/m).some((part) => isObject(readYaml(part)))).toBe(true);
});

test('transformManifest() keeps each digit of integers that are only passed on', async () => {
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\nnumber: 12345678901234567890\n';
  const readExact = (text: string): unknown =>
    parseYaml(text, { source: 'manifest', booleans: 'yaml-1.1' }).value;
  const text = await transformManifest(manifest, readExact, async (all) =>
    all.map((object) => ({ ...object, other: true })),
  );
  expect(text).toContain('"number":12345678901234567890');
});

test('manifestObjects() names the object that cannot be passed, and to whom', () => {
  const text = 'apiVersion: v1\nkind: Widget\nmetadata: {name: echo}\nbin: !!binary aGVsbG8=\n';
  expect(() => manifestObjects(text, readYaml)).toThrow(
    'Cannot pass rendered objects to the extensions or the reconcile webhook of the module (Widget "echo"): ',
  );
});
