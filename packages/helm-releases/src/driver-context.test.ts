import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { ReleaseNotices } from './driver-context.ts';

test('ReleaseNotices says each thing once for each release', () => {
  const said: string[] = [];
  const notices = new ReleaseNotices({
    ...silentLogger,
    warn: (fields) => said.push(`${String(fields['release'])} ${JSON.stringify(fields['functions'])}`),
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
  expect(said).toEqual(['web ["uuidv4"]', 'api ["uuidv4"]', 'api ["lookup"]', 'web undefined']);
});
