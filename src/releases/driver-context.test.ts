import { silentLogger } from '@addon-operator/base/log';
import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { ReleaseNotices } from './driver-context.ts';

test('ReleaseNotices says each thing once for each release', () => {
  const said: string[] = [];
  const notices = new ReleaseNotices({
    ...silentLogger,
    warn: (fields) =>
      said.push(`${String(fields['release'])} ${JSON.stringify(fields['functions'] ?? fields['values'])}`),
  });
  const random = {
    usesCapabilities: false,
    usesRevision: false,
    outsideFunctions: [],
    changingFunctions: ['uuidv4'],
  };
  notices.onChart('web', random);
  notices.onChart('web', random);
  notices.onChart('api', { ...random, outsideFunctions: ['lookup'] });
  notices.onAdoption('web');
  notices.onAdoption('web');
  const values = parseJson('{"web":{"id":9007199254740993,"n":5,"a/b":[1,12345678901234567890]}}');
  notices.onValues('web', values);
  notices.onValues('web', values);
  notices.onValues('api', { web: { id: 5 } });
  expect(said).toEqual([
    'web ["uuidv4"]',
    'api ["uuidv4"]',
    'api ["lookup"]',
    'web undefined',
    'web ["/web/id","/web/a~1b/1"]',
  ]);
});
