import { describeRules, type LintedModule, type RuleRow } from '../../../../test/support/lint-rules.ts';
import type { HookConfig } from '../../../hook-config/hook-config.ts';
import type { LintedHook } from '../lint-facts.ts';
import { HOOK_RULES } from './hooks.ts';

/** A hook with these parts of a configuration; rules read nothing else of it. */
function hook(
  config: Partial<Record<keyof HookConfig, object>>,
  more: Partial<LintedHook> = {},
): LintedModule {
  const whole = { schedule: [], kubernetes: [], admission: [], settings: {}, ...config };
  const facts = { path: 'hooks/a.sh', transport: 'executable', unknownKinds: [], ...more } as const;
  return { parsed: { hooks: [{ ...facts, config: whole as unknown as HookConfig }] } };
}

const binding = (watch: object = {}, more: object = {}): object => ({
  type: 'kubernetes',
  name: 'pods',
  queue: 'main',
  allowFailure: false,
  watch: { kind: 'Pod', keepFullObjects: true, executeOnEvents: ['Added'], ...watch },
  ...more,
});

const schedule = (crontab: string, more: object = {}): object => ({
  type: 'schedule',
  name: 'often',
  queue: 'main',
  allowFailure: false,
  crontab,
  ...more,
});

const ROWS: readonly RuleRow[] = [
  {
    rule: 'binding-without-name',
    what: 'the only binding',
    ...hook({ kubernetes: [binding({}, { name: 'kubernetes' })] }),
    found: [],
  },
  {
    rule: 'binding-without-name',
    what: 'two bindings without names',
    ...hook({
      kubernetes: [binding({}, { name: 'kubernetes' })],
      schedule: [schedule('* * * * *', { name: 'schedule' })],
    }),
    found: [
      ['hooks/a.sh', 'has a kubernetes binding without a name'],
      ['hooks/a.sh', 'has a schedule binding without a name'],
    ],
  },
  {
    rule: 'binding-name-twice',
    what: 'one name for bindings of two kinds',
    ...hook({ kubernetes: [binding()], schedule: [schedule('* * * * *', { name: 'pods' })] }),
    found: [],
  },
  {
    rule: 'binding-name-twice',
    what: 'one name three times',
    ...hook({ kubernetes: [binding(), binding(), binding()] }),
    found: [['hooks/a.sh', "has several bindings with the name 'pods'"]],
  },
  {
    rule: 'jq-filter-missing',
    what: 'a filter, a selector, a small kind, or filter results only',
    ...hook({
      kubernetes: [
        binding({ jqFilter: '.spec' }),
        binding({ nameSelector: ['web'] }),
        binding({ namespace: { nameSelector: ['shop'] } }),
        binding({ kind: 'Deployment' }),
        binding({ keepFullObjects: false }),
      ],
    }),
    found: [],
  },
  {
    rule: 'jq-filter-missing',
    what: 'all objects of a large kind, in a hook of a batch',
    ...hook({ kubernetes: [binding({ kind: 'po', namespace: { nameSelector: [] } })] }, { part: 'count' }),
    found: [
      [
        'hooks/a.sh',
        "count binding 'pods' keeps all objects of kind po in memory as a whole: add a jqFilter, or a selector",
      ],
    ],
  },
  {
    rule: 'watches-all-secrets',
    what: 'Secrets with labels',
    ...hook({ kubernetes: [binding({ kind: 'Secret', labelSelector: {} })] }),
    found: [],
  },
  {
    rule: 'watches-all-secrets',
    what: 'all Secrets',
    ...hook({ kubernetes: [binding({ kind: 'secrets' })] }),
    found: [['hooks/a.sh', "binding 'pods' watches the Secrets of all namespaces"]],
  },
  {
    rule: 'crontab-never',
    what: 'a day that comes',
    ...hook({ schedule: [schedule('0 0 29 2 *')] }),
    found: [],
  },
  {
    rule: 'crontab-never',
    what: 'a day that never comes',
    ...hook({ schedule: [schedule('0 0 30 2 *')] }),
    found: [['hooks/a.sh', "schedule 'often': 0 0 30 2 * never fires: no year has that day"]],
  },
  {
    rule: 'group-over-queues',
    what: 'one queue, and the group of a batch hook',
    ...hook({ kubernetes: [binding({}, { group: 'g' })], schedule: [schedule('* * * * *', { group: 'g' })] }),
    found: [],
  },
  {
    rule: 'group-over-queues',
    what: 'two queues',
    ...hook({
      kubernetes: [binding({}, { group: 'g', queue: 'slow' })],
      schedule: [schedule('* * * * *', { group: 'g' })],
    }),
    found: [['hooks/a.sh', "group 'g' has bindings in several queues: slow, main"]],
  },
  { rule: 'kind-unknown', what: 'kinds that are known', ...hook({}), found: [] },
  {
    rule: 'kind-unknown',
    what: 'a kind that no CRD defines',
    ...hook({}, { unknownKinds: ['example.com/v1 Widget'] }),
    found: [
      [
        'hooks/a.sh',
        'watches example.com/v1 Widget, which is neither built in nor defined in crds/ of these modules',
      ],
    ],
  },
  {
    rule: 'webhook-timeout',
    what: 'ten seconds',
    ...hook({ admission: [{ name: 'check', timeoutSeconds: 10 }] }),
    found: [],
  },
  {
    rule: 'webhook-timeout',
    what: 'eleven seconds',
    ...hook({ admission: [{ name: 'check', timeoutSeconds: 11 }] }),
    found: [['hooks/a.sh', "webhook 'check' may take 11 s"]],
  },
  {
    rule: 'setting-without-effect',
    what: 'exit codes of an executable, and settings of a binding that has events',
    ...hook({
      settings: { exitCodes: {} },
      kubernetes: [binding({}, { debounce: {}, coalesce: 'object' })],
    }),
    found: [],
  },
  {
    rule: 'setting-without-effect',
    what: 'both codes for an in-process hook, and settings of bindings without events or in a group',
    ...hook(
      {
        settings: { exitCodes: {}, statusCodes: {} },
        kubernetes: [
          binding({ executeOnEvents: [] }, { debounce: {}, coalesce: 'object' }),
          binding({}, { name: 'grouped', group: 'g', coalesce: 'object' }),
        ],
      },
      { transport: 'in-process' },
    ),
    found: [
      ['hooks/a.sh', 'has settings.exitCodes, which an in-process hook does not use'],
      ['hooks/a.sh', 'has settings.statusCodes, which an in-process hook does not use'],
      ['hooks/a.sh', "binding 'pods' has debounce, but runs for no events"],
      ['hooks/a.sh', "binding 'pods' has coalesce, but runs for no events"],
      ['hooks/a.sh', "binding 'grouped' has coalesce, but is in a group, which has one context a run"],
    ],
  },
  {
    rule: 'events-in-main-queue',
    what: 'a queue of its own, allowed failures, or no events',
    ...hook({
      kubernetes: [
        binding({}, { queue: 'pods' }),
        binding({}, { allowFailure: true }),
        binding({ executeOnEvents: [] }),
      ],
    }),
    found: [],
  },
  {
    rule: 'events-in-main-queue',
    what: 'events in main',
    ...hook({ kubernetes: [binding()] }),
    found: [
      [
        'hooks/a.sh',
        "binding 'pods' has its events in the queue main, where a failure keeps all modules waiting",
      ],
    ],
  },
  { rule: 'hook-without-timeout', what: 'a limit', ...hook({ settings: { timeoutMs: 1_000 } }), found: [] },
  {
    rule: 'hook-without-timeout',
    what: 'no limit',
    ...hook({}),
    found: [['hooks/a.sh', 'has no settings.timeout']],
  },
];

describeRules(HOOK_RULES, ROWS, ['hook-config-invalid']);
