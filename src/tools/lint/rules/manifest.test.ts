import { describeRules, moduleNamed, type RuleRow } from '../../../../test/support/lint-rules.ts';
import { parseModuleName } from '../../../modules/module-name.ts';
import { MANIFEST_RULES } from './manifest.ts';

const requires = (name: string, version?: string, isOptional = false) => ({
  name: parseModuleName(name),
  version,
  isOptional,
});

const ROWS: readonly RuleRow[] = [
  { rule: 'manifest-ignored', what: 'nothing that is ignored', found: [] },
  {
    rule: 'manifest-ignored',
    what: 'a key without effect',
    manifest: { remarks: ['wieght: unknown key'] },
    found: [['module.yaml', 'wieght: unknown key']],
  },
  { rule: 'reconcile-every', what: 'a duration', manifest: { reconcileEvery: '10m' }, found: [] },
  { rule: 'reconcile-every', what: 'a crontab', manifest: { reconcileEvery: '0 * * * *' }, found: [] },
  {
    rule: 'reconcile-every',
    what: 'a crontab that never fires',
    manifest: { reconcileEvery: '0 0 31 2 *' },
    found: [['module.yaml', 'reconcileEvery: 0 0 31 2 * never fires: no year has that day']],
  },
  {
    rule: 'requires-unknown',
    what: 'a module that is there, and an optional one that is not',
    manifest: { requires: [requires('db'), requires('cache', undefined, true)] },
    parsed: {
      siblings: [moduleNamed('db', undefined, [])],
    },
    found: [],
  },
  {
    rule: 'requires-unknown',
    what: 'a module that is not there',
    manifest: { requires: [requires('db')] },
    found: [['module.yaml', 'requires module db, which is not in this modules directory']],
  },
  {
    rule: 'requires-cycle',
    what: 'a chain, and a cycle of others',
    parsed: {
      siblings: [
        moduleNamed('web', undefined, [requires('db')]),
        moduleNamed('db', undefined, [requires('cache')]),
        moduleNamed('cache', undefined, [requires('db')]),
      ],
    },
    found: [],
  },
  {
    rule: 'requires-cycle',
    what: 'a cycle with the module in it',
    parsed: {
      siblings: [
        moduleNamed('web', undefined, [requires('db')]),
        moduleNamed('db', undefined, [requires('web')]),
      ],
    },
    found: [['module.yaml', 'modules require each other in a cycle: db -> web -> db']],
  },
  {
    rule: 'range-never-matches',
    what: 'a version in the range, and a module that is not there',
    manifest: { requires: [requires('db', '>=1.2'), requires('cache', '>=1')] },
    parsed: {
      siblings: [moduleNamed('db', '1.2.0', [])],
    },
    found: [],
  },
  {
    rule: 'range-never-matches',
    what: 'an older version, and none',
    manifest: { requires: [requires('db', '>=1.2'), requires('cache', '>=1')] },
    parsed: {
      siblings: [moduleNamed('db', '1.1.0', []), moduleNamed('cache', undefined, [])],
    },
    found: [
      ['module.yaml', 'requires module db in version >=1.2, but it has version 1.1.0'],
      [
        'module.yaml',
        'requires module cache in version >=1, but its version is unknown: set it in module.yaml or Chart.yaml',
      ],
    ],
  },
];

describeRules(MANIFEST_RULES, ROWS, ['manifest-invalid']);
