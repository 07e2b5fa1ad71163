import { expect, test } from 'vitest';
import { WELL } from '../../test/support/operator-facts.ts';
import { moduleUpdate } from './module-update.ts';
import { operatorStatus } from './operator-status.ts';

const waits = (reason: string) => ({
  module: 'web',
  update: moduleUpdate('web', { version: '1.4.0', digest: null, reason, message: 'why', since: '' }),
});

const SOURCE = {
  name: 'platform',
  url: 'oci://registry.example.com/platform',
  invalid: null,
  problem: 'refused',
  lastSuccessAt: '08:00',
  lastAttemptAt: '09:00',
  modules: 1,
};

const DELIVERED = {
  module: 'web',
  source: 'platform',
  installed: null,
  lastGood: null,
  wanted: null,
  failed: [],
  isUpdating: false,
  waitsFor: null,
  invalid: null,
  missing: null,
  problem: null,
  sourceProblem: null,
  update: null,
};

test.each([
  [
    'an update needs approval',
    { updates: [waits('NeedsApproval')] },
    'notice',
    'module web is not updated to 1.4.0: NeedsApproval: why',
  ],
  [
    'an update was refused',
    { updates: [waits('Unverified')] },
    'broken',
    'module web is not updated to 1.4.0: Unverified: why; the version before goes on',
  ],
  ['an update soaks', { updates: [waits('Soaking')] }, 'well', 'all is well: 0 modules ready, nothing to do'],
  [
    'a source is away',
    { delivery: { sources: [SOURCE], modules: [] } },
    'notice',
    'ModuleSource platform was last read at 08:00: refused; its modules run as they are, and it is tried again',
  ],
  [
    'a source was never read',
    { delivery: { sources: [{ ...SOURCE, lastSuccessAt: null }], modules: [] } },
    'notice',
    'ModuleSource platform has not been read yet: refused; its modules run as they are, and it is tried again',
  ],
  [
    'a source is invalid',
    { delivery: { sources: [{ ...SOURCE, problem: null, invalid: 'no url' }], modules: [] } },
    'broken',
    'ModuleSource platform is invalid: no url; correct its spec',
  ],
  [
    'a ModuleInstall is invalid',
    { delivery: { sources: [], modules: [{ ...DELIVERED, invalid: 'no version' }] } },
    'broken',
    'ModuleInstall web is invalid: no version; correct its spec',
  ],
  [
    'a ModuleInstall names no source',
    {
      delivery: {
        sources: [],
        modules: [{ ...DELIVERED, sourceProblem: 'ModuleSource platform does not exist' }],
      },
    },
    'broken',
    'module web has no source: ModuleSource platform does not exist',
  ],
  [
    'a step of delivery fails',
    { delivery: { sources: [], modules: [{ ...DELIVERED, problem: 'disk full' }] } },
    'notice',
    'delivery of module web fails, and is tried again: disk full',
  ],
] as const)('when %s, the status says so', (_name, facts, level, text) => {
  expect(operatorStatus({ ...WELL, ...facts })).toMatchObject({ level, text });
});
