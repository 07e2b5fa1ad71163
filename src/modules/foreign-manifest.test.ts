import type { JsonObject } from '@addon-operator/json';
import * as fc from 'fast-check';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { expect, test } from 'vitest';
import { FOREIGN_KEYS, type ForeignManifest, npmRange, readForeign } from './foreign-manifest.ts';

function read(content: JsonObject): ForeignManifest & { readonly remarks: readonly string[] } {
  const remarks: string[] = [];
  return { ...readForeign(content, 'web', remarks), remarks };
}

test('readForeign() reads the keys that have a meaning here, without a remark', () => {
  const found = read({
    name: 'web',
    weight: 910,
    stage: 'Preview',
    descriptions: { ru: 'три', en: 'Serves pages.' },
    tags: ['demo', 'network'],
    namespace: 'd8-web',
    critical: true,
    disable: { confirmation: true, message: 'Pages are not served.' },
    requirements: {
      deckhouse: '>= 1.69',
      bootstrapped: 'true',
      kubernetes: '>= 1.27, < 1.40',
      modules: { 'cert-manager': '>= 1.2 !optional', db: '!optional', dns: '> 0.0.0' },
    },
    accessibility: { editions: {} },
    update: { versions: [] },
    subsystems: ['chore'],
    exclusiveGroup: 'cni',
  });
  expect(found).toEqual({
    weight: 910,
    kubernetes: '>=1.27 <1.40',
    requires: [
      { name: 'cert-manager', version: '>=1.2', isOptional: true },
      { name: 'db', version: undefined, isOptional: true },
      { name: 'dns', version: '>0.0.0', isOptional: false },
    ],
    about: {
      description: 'Serves pages.',
      stage: 'Preview',
      tags: ['demo', 'network'],
      namespace: 'd8-web',
      isCritical: true,
      disableMessage: 'Pages are not served.',
    },
    remarks: [],
  });
});

test('readForeign() prefers description, and takes any language without an English one', () => {
  expect(read({ description: 'a', descriptions: { en: 'b' } }).about.description).toBe('a');
  expect(read({ descriptions: { ru: 'c' } }).about.description).toBe('c');
});

test('readForeign() takes the weight 0 for none, and a requirement of the module itself for none', () => {
  expect(read({ weight: 0 }).weight).toBeUndefined();
  expect(read({ requirements: { modules: { web: '>= 1' } } }).requires).toEqual([]);
});

test.each<readonly [JsonObject, string]>([
  [{ name: 'shop' }, 'name: "shop" is ignored, the directory names the module web'],
  [{ weight: '910' }, 'weight: expected a whole number from 0 to 2147483647, got "910"; it is ignored'],
  [{ weight: -1 }, 'weight: expected a whole number'],
  [{ tags: 'demo' }, 'tags: expected a list of strings, got "demo"; it is ignored'],
  [{ critical: 'yes' }, 'critical: expected true or false'],
  [{ disable: true }, 'disable: expected a map'],
  [{ descriptions: { en: 1 } }, 'descriptions.en: expected a string, got 1'],
  [{ requirements: [] }, 'requirements: expected a map'],
  [{ requirements: { helm: '3' } }, 'requirements.helm: unknown requirement, it is not checked'],
  [
    { requirements: { kubernetes: 'new' } },
    'requirements.kubernetes: expected a range of versions, such as ">= 1.2", got "new"; it is ignored',
  ],
  [{ requirements: { modules: { db: 2 } } }, 'requirements.modules.db: expected a range of versions'],
  [{ requirements: { modules: { 'D B': '' } } }, 'requirements.modules.D B: this cannot be the name'],
])('readForeign() remarks on %j', (content, remark) => {
  const { remarks } = read(content);
  expect(remarks).toEqual([expect.stringContaining(remark)]);
});

test('readForeign() keeps a required module whose range cannot be read, in any version', () => {
  expect(read({ requirements: { modules: { db: 'x y z' } } }).requires).toEqual([
    { name: 'db', version: undefined, isOptional: false },
  ]);
});

test.each([
  ['>= 1.2, < 3', '>=1.2 <3'],
  ['>=1.2 <3 || 5.x', '>=1.2 <3 || 5.x'],
  ['=> 1.2', '>=1.2'],
  ['1.2 - 2.3', '1.2 - 2.3'],
  ['~> 1.2.3', '~>1.2.3'],
  ['v1.4', 'v1.4'],
  ['> 1, != 1.5.0', '>1 <1.5.0 || >1 >1.5.0'],
])('npmRange() translates %s to %s', (text, range) => {
  expect(npmRange(text)).toBe(range);
});

test('npmRange() excludes with != that version, and nothing else', () => {
  const range = npmRange('>= 1, != 1.5.0, != 2.0.0') ?? '';
  const matching = ['1.0.0', '1.4.9', '1.5.0', '1.5.1', '2.0.0', '2.0.1', '0.9.0'];
  expect(matching.filter((version) => satisfies(version, range))).toEqual([
    '1.0.0',
    '1.4.9',
    '1.5.1',
    '2.0.1',
  ]);
});

test('property: readForeign() takes any value of any of its keys, and ranges can be used', () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const content = fc.dictionary(fc.constantFrom(...FOREIGN_KEYS, 'requirements', 'modules'), json);
  fc.assert(
    fc.property(content, json, json, (keys, modules, kubernetes) => {
      // JSON of fast-check is JSON.
      const document = { ...keys, requirements: { modules, kubernetes } } as JsonObject;
      const found = read(document);
      for (const { version } of [...found.requires, { version: found.kubernetes }])
        expect(version === undefined || validRange(version) !== null).toBe(true);
    }),
  );
});
