import { parseCelRules } from '@addon-operator/value-schemas/cel-rules';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { expect, test } from 'vitest';
import { parseConfigMapData } from './config-map-content.ts';
import type { ModuleName, ValuesOwner } from './module-key.ts';
import { parseSectionSchemas } from './section-schemas.ts';
import { ValuesStore } from './values-store.ts';

const web = 'web' as ModuleName;
const config = 'type: object\nproperties: {n: {type: integer, default: 1}, pw: {type: string, minLength: 3}}';
const values = 'x-extend: {}\ntype: object\nx-required-for-helm: own\nproperties: {own: {type: string}}';

/** A store with a module `web`, its schemas, and Secrets that hold these texts by key; references count for all. */
function storeWith(texts: Readonly<Record<string, string>>, rules = ''): ValuesStore {
  const file = (text: string) => ({ path: 'openapi', text });
  const schemas = parseSectionSchemas(file(`${config}\n${rules}`), file(values), {
    check: new SchemaCheck(),
    parseRules: parseCelRules,
  });
  return new ValuesStore(
    {
      global: {},
      modules: new Map([[web, {}]]),
      schemas: new Map<ValuesOwner, typeof schemas>([[web, schemas]]),
    },
    {
      namespace: 'ours',
      isResolvedFor: () => true,
      lookup: ({ key }) => {
        const text = texts[key];
        return text === undefined ? { type: 'absent', why: 'none' } : { type: 'known', text };
      },
    },
  );
}

const contentOf = (section: string) => parseConfigMapData({ web: section });
const PASSWORD = 'pw: {valueFrom: {secretKeyRef: {name: s, key: k}}}';

test('setConfig() takes nothing over when a section does not match, unless its module is not in use', () => {
  const store = storeWith({});
  store.setConfig(contentOf('n: 2'));
  expect(() => store.setConfig(contentOf('n: two'))).toThrow(
    'web.n in body must be of type integer: "string"',
  );
  expect(store.moduleConfigValues(web)).toStrictEqual({ n: 2 });
  store.setConfig(contentOf('n: two'), () => false);
  store.setConfig(contentOf('{}'));
  expect(store.moduleValues(web)).toStrictEqual({ n: 1 });
});

test('setConfig() checks the section of the ConfigMap without what the files give', () => {
  const file = (text: string) => ({ path: 'openapi', text });
  const schema =
    'type: object\nrequired: [size]\nproperties: {size: {type: integer}, other: {type: integer}}';
  const schemas = parseSectionSchemas(file(schema), undefined, {
    check: new SchemaCheck(),
    parseRules: parseCelRules,
  });
  const store = new ValuesStore({
    global: {},
    modules: new Map([[web, { size: 1 }]]),
    schemas: new Map<ValuesOwner, typeof schemas>([[web, schemas]]),
  });
  expect(() => store.setConfig(contentOf('other: 2'))).toThrow('web.size in body is required');
  store.setConfig(contentOf('size: 2'));
  expect(store.moduleValues(web)).toStrictEqual({ size: 2 });
});

test('checkForHelm() requires what helm requires, and checks the section of a module that hooks enabled', () => {
  const store = storeWith({});
  expect(() => store.checkForHelm(web)).toThrow(
    /^check helm values: 1 error occurred:\n\t\* .* in body is required\n+openapi\/values\.yaml requires this/,
  );
  store.applyPatch(web, [{ op: 'add', path: '/web/own', value: 'x' }]);
  store.checkForHelm(web);
  store.setConfig(contentOf('pw: ab'), () => false);
  expect(() => store.checkForHelm(web)).toThrow('web.pw in body should be at least 3 chars long');
});

test('a reference is text in values, absent in known values without its Secret, and written in config values', () => {
  const store = storeWith({ k: 'secret' });
  store.setConfig(contentOf(PASSWORD));
  expect(store.moduleValues(web)).toStrictEqual({ n: 1, pw: 'secret' });
  const lost = storeWith({});
  lost.setConfig(contentOf(PASSWORD));
  expect(() => lost.moduleValues(web)).toThrow(
    'values of module \'web\' refer to Secrets that cannot be used: at web.pw: key "k" of Secret ours/s: none',
  );
  expect(lost.knownValues(web)).toStrictEqual({ n: 1 });
  for (const shown of [lost.writtenValues(web), lost.moduleConfigValues(web)])
    expect(shown).toMatchObject({ pw: { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } } });
});

test('the text behind a reference is checked, and changes the checksum', () => {
  expect(() => storeWith({ k: 'ab' }).setConfig(contentOf(PASSWORD))).toThrow(
    'web.pw in body should be at least',
  );
  const checksums = ['one', 'two'].map((k) => {
    const store = storeWith({ k });
    store.setConfig(contentOf(PASSWORD));
    return store.checksum(web);
  });
  expect(checksums[0]).not.toBe(checksums[1]);
});

test('secretReferences() returns which sections refer to which Secrets, in force or in a new content', () => {
  const store = storeWith({});
  const reference = { namespace: 'ours', name: 's', key: 'k', isOptional: false };
  expect(store.secretReferences().get(web)).toEqual([]);
  expect(store.secretReferences(contentOf(PASSWORD)).get(web)).toEqual([reference]);
});

test('a rule compares a section with the one in force, with texts of Secrets in place of references', () => {
  const rules = `x-deckhouse-validations:
- {expression: 'self.n >= oldSelf.n', message: n must not shrink}
- {expression: '!has(self.pw) || self.pw != "guess"', message: pw is too easy}`;
  const store = storeWith({ k: 'guess' }, rules);
  store.setConfig(contentOf('n: 3'));
  expect(() => store.setConfig(contentOf('n: 2'))).toThrow('n must not shrink');
  expect(() => store.patchedConfig(web, [{ op: 'add', path: '/web/n', value: 0 }])).toThrow(
    'n must not shrink',
  );
  store.setConfig(contentOf('n: 4'));
  expect(() => store.setConfig(contentOf(`n: 4\n${PASSWORD}`))).toThrow('pw is too easy');
  expect(() => storeWith({}, rules).setConfig(contentOf(PASSWORD))).not.toThrow();
});

test('applyPatch() keeps nothing of a patch whose values do not match their schema', () => {
  const store = storeWith({});
  store.applyPatch(web, [{ op: 'add', path: '/web/own', value: 'text' }]);
  expect(() => store.applyPatch(web, [{ op: 'add', path: '/web/own', value: 7 }])).toThrow(
    'web.own in body must be of type string',
  );
  expect(store.moduleValues(web)).toMatchObject({ own: 'text' });
});

test('defaults of the schema of config values are values, also without a schema of all values', () => {
  const schemas = parseSectionSchemas({ path: 'openapi', text: config }, undefined, {
    check: new SchemaCheck(),
    parseRules: parseCelRules,
  });
  const store = new ValuesStore({
    global: {},
    modules: new Map([[web, { size: 's' }]]),
    schemas: new Map<ValuesOwner, typeof schemas>([[web, schemas]]),
  });
  expect(store.moduleValues(web)).toStrictEqual({ size: 's', n: 1 });
});
