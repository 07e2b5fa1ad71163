import { expect, test } from 'vitest';
import { configOf, parseTrigger, type Trigger } from './trigger.ts';

test.each<[string, boolean, Trigger]>([
  ['onStartup', true, { type: 'lifecycle', binding: 'onStartup' }],
  ['afterDeleteHelm', true, { type: 'lifecycle', binding: 'afterDeleteHelm' }],
  ['beforeAll', false, { type: 'lifecycle', binding: 'beforeAll' }],
  ['schedule:*/5 * * * *', true, { type: 'schedule', crontab: '*/5 * * * *' }],
  ['kubernetes:v1/Service', true, { type: 'kubernetes', apiVersion: 'v1', kind: 'Service' }],
  ['kubernetes:apps/v1/Deployment', false, { type: 'kubernetes', apiVersion: 'apps/v1', kind: 'Deployment' }],
  ['validating:v1/pods', true, { type: 'validating', group: '', version: 'v1', resource: 'pods' }],
  [
    'validating:apps/v1/deployments',
    true,
    { type: 'validating', group: 'apps', version: 'v1', resource: 'deployments' },
  ],
])('parseTrigger(%j), of a module: %s', (text, isOfModule, trigger) => {
  expect(parseTrigger(text, isOfModule)).toEqual(trigger);
});

const FORMS = 'schedule:CRONTAB, kubernetes:APIVERSION/KIND or validating:APIVERSION/RESOURCE';
test.each([
  ['beforeAll', true, 'write one of onStartup, beforeHelm, afterHelm, beforeDeleteHelm, afterDeleteHelm'],
  ['beforeHelm', false, 'write one of onStartup, beforeAll, afterAll'],
  ['onStartUp', false, `(did you mean "onStartup"?), ${FORMS}`],
  ['schedule:', true, FORMS],
  ['schedule:61 * * * *', true, '--on schedule:61 * * * *: '],
  ['kubernetes:Service', true, 'write kubernetes:APIVERSION/KIND, such as kubernetes:v1/Service'],
  ['kubernetes:v1/service', true, 'write kubernetes:APIVERSION/KIND'],
  ['kubernetes:apps/1/Service', true, 'write kubernetes:APIVERSION/KIND'],
  ['validating:v1/Pods', true, 'write validating:APIVERSION/RESOURCE'],
  ['validating:pods', true, 'write validating:APIVERSION/RESOURCE'],
])('parseTrigger(%j), of a module: %s, is refused', (text, isOfModule, message) => {
  expect(() => parseTrigger(text, isOfModule)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  );
});

test.each<[string, Trigger, object]>([
  ['a lifecycle binding', { type: 'lifecycle', binding: 'beforeHelm' }, { beforeHelm: 10 }],
  [
    'a schedule',
    { type: 'schedule', crontab: '0 * * * *' },
    { schedule: [{ name: 'timer', crontab: '0 * * * *' }] },
  ],
  [
    'objects',
    { type: 'kubernetes', apiVersion: 'v1', kind: 'Service' },
    {
      kubernetes: [
        {
          name: 'objects',
          apiVersion: 'v1',
          kind: 'Service',
          jqFilter: '{name: .metadata.name, namespace: .metadata.namespace}',
          keepFullObjectsInMemory: false,
        },
      ],
    },
  ],
  [
    'Secrets, of one namespace only',
    { type: 'kubernetes', apiVersion: 'v1', kind: 'Secret' },
    { kubernetes: [expect.objectContaining({ namespace: { nameSelector: { matchNames: ['default'] } } })] },
  ],
  [
    'an admission webhook, whose name may have no capitals and underscores',
    { type: 'validating', group: 'apps', version: 'v1', resource: 'deployments' },
    {
      kubernetesValidating: [
        {
          name: 'check-it.example.com',
          rules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['deployments'],
            },
          ],
        },
      ],
    },
  ],
])('configOf() of %s', (_what, trigger, config) => {
  expect(configOf(trigger, 'Check_it')).toEqual(config);
});
