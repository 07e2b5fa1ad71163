import { describeRules, type RuleRow } from '../../../../test/support/lint-rules.ts';
import { MANIFEST_RULES } from './manifest.ts';

const requires = (name: string, version?: string, isOptional = false) => ({ name, version, isOptional });

const ROWS: readonly RuleRow[] = [
  { rule: 'manifest-ignored', what: 'nothing that is ignored', found: [] },
  {
    rule: 'manifest-ignored',
    what: 'a key without effect',
    parsed: { ignored: ['wieght: unknown key'] },
    found: [['module.yaml', 'wieght: unknown key']],
  },
  { rule: 'reconcile-every', what: 'a duration', parsed: { reconcileEvery: '10m' }, found: [] },
  { rule: 'reconcile-every', what: 'a crontab', parsed: { reconcileEvery: '0 * * * *' }, found: [] },
  {
    rule: 'reconcile-every',
    what: 'a crontab that never fires',
    parsed: { reconcileEvery: '0 0 31 2 *' },
    found: [['module.yaml', 'reconcileEvery: 0 0 31 2 * never fires: no year has that day']],
  },
  {
    rule: 'requires-unknown',
    what: 'a module that is there, and an optional one that is not',
    parsed: {
      requires: [requires('db'), requires('cache', undefined, true)],
      siblings: [{ name: 'db', version: undefined, requires: [] }],
    },
    found: [],
  },
  {
    rule: 'requires-unknown',
    what: 'a module that is not there',
    parsed: { requires: [requires('db')] },
    found: [['module.yaml', 'requires module db, which is not in this modules directory']],
  },
  {
    rule: 'requires-cycle',
    what: 'a chain, and a cycle of others',
    parsed: {
      siblings: [
        { name: 'web', version: undefined, requires: [requires('db')] },
        { name: 'db', version: undefined, requires: [requires('cache')] },
        { name: 'cache', version: undefined, requires: [requires('db')] },
      ],
    },
    found: [],
  },
  {
    rule: 'requires-cycle',
    what: 'a cycle with the module in it',
    parsed: {
      siblings: [
        { name: 'web', version: undefined, requires: [requires('db')] },
        { name: 'db', version: undefined, requires: [requires('web')] },
      ],
    },
    found: [['module.yaml', 'modules require each other in a cycle: web -> db -> web']],
  },
  {
    rule: 'range-never-matches',
    what: 'a version in the range, and a module that is not there',
    parsed: {
      requires: [requires('db', '>=1.2'), requires('cache', '>=1')],
      siblings: [{ name: 'db', version: '1.2.0', requires: [] }],
    },
    found: [],
  },
  {
    rule: 'range-never-matches',
    what: 'an older version, and none',
    parsed: {
      requires: [requires('db', '>=1.2'), requires('cache', '>=1')],
      siblings: [
        { name: 'db', version: '1.1.0', requires: [] },
        { name: 'cache', version: undefined, requires: [] },
      ],
    },
    found: [
      ['module.yaml', 'requires module db in version >=1.2, but it has version 1.1.0'],
      ['module.yaml', 'requires module cache in version >=1, but it has no version'],
    ],
  },
];

describeRules(MANIFEST_RULES, ROWS, ['manifest-invalid']);
