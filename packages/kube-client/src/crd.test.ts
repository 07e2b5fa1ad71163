import { expect, test } from 'vitest';
import { parseCrdFile } from './crd.ts';

const HEAD = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n';

test('parseCrdFile() reads several documents, and names what is none by its line', () => {
  const text = `${HEAD}metadata: {name: a}\nspec: {group: g}\n---\n# only a comment\n---\nkind: Pod\n---\na: [\n---\n${HEAD}metadata: {name: b}\nspec: {}\n`;
  const { crds, problems } = parseCrdFile(text, '/m/crds/x.yaml');
  expect(crds.map((crd) => crd.name)).toEqual(['a', 'b']);
  expect(problems).toEqual([
    "/m/crds/x.yaml:7: invalid CRD document apiversion/kind: '/Pod' (crds/ holds 'apiextensions.k8s.io/v1/CustomResourceDefinition' only, other objects belong in templates/)",
    expect.stringMatching(/^\/m\/crds\/x\.yaml:1[01]: /),
  ]);
});

test('parseCrdFile() drops schema keys the API server does not know, but no property of that name', () => {
  const schema =
    '{x-doc: 1, x-kubernetes-preserve-unknown-fields: true, default: {x-kept: 1}, properties: {x-name: {x-doc: 2, type: string}}}';
  const text = `${HEAD}metadata: {name: a}\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: ${schema}}}]}\n`;
  expect(parseCrdFile(text, 'x').crds[0]?.spec).toEqual({
    versions: [
      {
        name: 'v1',
        schema: {
          openAPIV3Schema: {
            'x-kubernetes-preserve-unknown-fields': true,
            default: { 'x-kept': 1 },
            properties: { 'x-name': { type: 'string' } },
          },
        },
      },
    ],
  });
});

test('parseCrdFile() takes bounds of 64 bits as the API server does', () => {
  const schema = '{type: integer, maximum: 9223372036854775807}';
  const text = `${HEAD}metadata: {name: a}\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: ${schema}}}]}\n`;
  const { crds, problems } = parseCrdFile(text, 'x');
  expect(problems).toEqual([]);
  expect(crds[0]?.spec).toEqual({
    versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'integer', maximum: 2 ** 63 } } }],
  });
});
