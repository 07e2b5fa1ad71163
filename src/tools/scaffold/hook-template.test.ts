import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { hookTemplate, templateNames } from './hook-template.ts';

const catalogue = fileURLToPath(new URL('../../../examples/catalogue', import.meta.url));
const COMMON = { catalogue, testSchema: '{}' };

test('hookTemplate() has the hooks of an example, their tests and the files that these name', () => {
  const files = hookTemplate({ ...COMMON, directory: '/p/global-hooks', template: 'crd-simple' });
  expect(files.map(({ path }) => path)).toEqual([
    '/p/global-hooks/crd-hook.sh',
    '/p/crd-simple.yaml',
    '/p/cr-crontab.yaml',
    '/p/tests/hook-test.schema.json',
    '/p/tests/crd-hook.hook-test.yaml',
  ]);
  expect(files.map(({ isExecutable }) => isExecutable === true)).toEqual([true, false, false, false, false]);
  expect(files.at(-1)?.text).toMatch(
    /^# yaml-language-server: \$schema=hook-test\.schema\.json\nhook: global-hooks\/crd-hook\.sh\n/,
  );
});

test('hookTemplate() keeps the directories of libraries, and puts tests beside the hooks of a module', () => {
  const files = hookTemplate({ ...COMMON, directory: '/p/modules/030-web/hooks', template: 'secret-copier' });
  const paths = files.map(({ path }) => path.replace('/p/modules/030-web/', ''));
  expect(paths).toContain('hooks/lib/functions.sh');
  expect(paths).toContain('tests/create_namespace.hook-test.yaml');
});

test('an unknown template is refused with the names of all, also without a catalogue', () => {
  const written = (template: string, from: string) => () =>
    hookTemplate({ ...COMMON, catalogue: from, directory: '/p', template });
  expect(written('secret-copie', catalogue)).toThrow(
    'there is no template secret-copie (did you mean "secret-copier"?); there are ',
  );
  expect(written('schedule', '/nosuch')).toThrow('this installation has no catalogue of examples');
  expect(templateNames(catalogue)).toContain('validating-webhook');
});
