import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  letrec,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { dump, load, loadAll, YAML11_SCHEMA } from 'js-yaml';
import { expect, test } from 'vitest';
import { addLabels } from './extra-labels.ts';

const labels = { heritage: 'addon-operator' };

function labelled(manifest: string): string {
  return addLabels(manifest, labels).text;
}

test.each([
  [
    'no labels',
    'metadata:\n  name: a\n',
    'metadata:\n  name: a\n  labels:\n    heritage: "addon-operator"\n',
  ],
  [
    'labels',
    'metadata:\n  labels:\n    app: a\n',
    'metadata:\n  labels:\n    app: a\n    heritage: "addon-operator"\n',
  ],
  ['flow style', 'metadata: {name: a}\n', 'metadata: {name: a, labels: {heritage: "addon-operator"}}\n'],
  ['null labels', 'metadata:\n  labels:\n', 'metadata:\n  labels:\n    heritage: "addon-operator"\n'],
  ['no metadata', 'kind: X\n', 'kind: X\nmetadata:\n  labels:\n    heritage: "addon-operator"\n'],
])('addLabels() labels an object with %s', (_case, manifest, expected) => {
  expect(labelled(manifest)).toBe(`---\n${expected}`);
});

test('addLabels() replaces another value of the label', () => {
  const text = labelled('metadata:\n  labels:\n    heritage: Helm\n    app: a\n');
  expect(load(text.slice(4))).toEqual({ metadata: { labels: { app: 'a', heritage: 'addon-operator' } } });
});

test('addLabels() keeps scalars as they are written', () => {
  const body =
    'mode: 0644\non: yes\nday: 2020-01-01\nquoted: "yes"\ntext: |+\n  a\n   b\n\nlong: 1e3\nversion: 1.10\n';
  expect(labelled(`metadata: {name: a}\n${body}`)).toContain(body);
});

test.each([
  ['brackets and braces at any column', '{\n"a": [\n  80\n]\n}'],
  ['text between quotes at any column', '"one\ntwo"'],
  ['binary data', '!!binary aGVsbG8='],
])('addLabels() reads what helm reads: %s', (_case, value) => {
  const text = labelled(`kind: X\nmetadata:\n  name: a\nspec:\n  a: ${value}\n`);
  expect(text).toContain('heritage: "addon-operator"');
  const schema = YAML11_SCHEMA;
  expect(load(text, { schema })).toMatchObject({
    spec: load(`a: ${value.replaceAll('\n', '\n   ')}\n`, { schema }),
  });
});

test('addLabels() keeps the comments above an object', () => {
  expect(labelled('---\n# Source: web/templates/a.yaml\nmetadata: {}\n')).toMatch(
    /^---\n# Source: web\/templates\/a.yaml\nmetadata/,
  );
});

test('addLabels() does not change a selector that shares its labels through an anchor', () => {
  const text = labelled('metadata:\n  labels: &l\n    app: a\nspec:\n  selector: *l\n');
  expect(text).toBe(
    '---\nmetadata:\n  labels:\n    <<: &l\n      app: a\n    heritage: "addon-operator"\nspec:\n  selector: *l\n',
  );
});

test('addLabels() leaves pod templates and helm hooks alone', () => {
  const hook = 'kind: Job\nmetadata:\n  name: h\n  annotations: {"helm.sh/hook": pre-install}\n';
  const { text, releaseText, objects } = addLabels(
    `---\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {metadata: {labels: {app: a}}}}\n---\n${hook}`,
    labels,
  );
  expect(text).toContain('template: {metadata: {labels: {app: a}}}');
  expect(text.endsWith(`---\n${hook}`)).toBe(true);
  expect(releaseText).not.toContain('Job');
  expect(objects.map(({ name }) => name)).toEqual(['d']);
});

test('addLabels() labels the items of a list, and counts them as objects', () => {
  const { text, objects } = addLabels(
    'kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: other}\n',
    labels,
  );
  expect(text).toContain('labels: {heritage: "addon-operator"}');
  expect(objects).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'other' }]);
});

test('addLabels() drops documents without an object, and never returns a blank text', () => {
  expect(labelled('---\n# nothing\n---\n\n')).toMatch(/^# /);
});

test('addLabels() names the template of a text that is no YAML', () => {
  expect(() => labelled('---\n# Source: web/templates/b.yaml\na: b: c\n')).toThrow('web/templates/b.yaml');
});

test('addLabels() changes nothing but the labels of any object', () => {
  const { value } = letrec((tie) => ({
    value: oneof(
      { depthSize: 'small' },
      string(),
      string({ unit: constantFrom(' ', '\n', 'a', '#', ':', '-', '\t', '"', "'", '|', '>', '\\', '{') }),
      integer(),
      boolean(),
      constant(null),
      array(tie('value')),
      dictionary(string({ minLength: 1 }), tie('value')),
    ),
  }));
  const object = record({ kind: constant('ConfigMap'), metadata: record({ name: string() }), data: value });
  assert(
    property(object, (manifest) => {
      for (const text of [dump(manifest), JSON.stringify(manifest, undefined, 2)]) {
        const [parsed] = loadAll(labelled(text));
        expect(parsed).toEqual({ ...manifest, metadata: { ...manifest.metadata, labels } });
      }
    }),
    { numRuns: 300 },
  );
});
