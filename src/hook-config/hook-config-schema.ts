/**
 * The JSON schemas of hook configurations. They are the source of three things: validation at run time, the files in
 * `docs/schema` that editors use, and the list of allowed keys in error messages. Descriptions are read by authors of
 * hooks. What a schema cannot say is checked in `parse-hook-config-v1.ts`.
 */

import type { DeployBinding } from '@addon-operator/sdk';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { mutatingSchema, validatingSchema } from './admission-binding.ts';
import {
  type HookScope,
  type LifecycleBinding,
  type ListKind,
  lifecycleBindingsOf,
  type SectionOf,
} from './binding-kinds.ts';
import {
  anyListOf,
  type ConfigSchema,
  choice,
  fieldSelector,
  flag,
  labelSelector,
  listOf,
  nameSelector,
  object,
  queued,
  string,
  text,
} from './config-schema-parts.ts';
import { conversionSchema } from './conversion-binding.ts';

/** Descriptions of lifecycle bindings, by name. */
const LIFECYCLE: Readonly<Record<LifecycleBinding, string>> = {
  onStartup: 'Run when the daemon starts, or when the module is enabled, at this place among the hooks.',
  beforeAll: 'Run before the modules of each converge, at this place among the hooks.',
  afterAll: 'Run after the modules of each converge, at this place among the hooks.',
  beforeHelm: 'Run before the release is installed or upgraded, at this place among the hooks.',
  afterHelm: 'Run after the release was installed or upgraded, at this place among the hooks.',
  beforeDeleteHelm: 'Run before the release is deleted, at this place among the hooks.',
  afterDeleteHelm: 'Run after the release was deleted, at this place among the hooks.',
};

/** Descriptions of deploy bindings, by name; only global hooks have them. */
const DEPLOY: Readonly<Record<DeployBinding, string>> = {
  beforeInstall:
    'Run in the deploy of each module before any of its objects are installed, at this place among the hooks.',
  afterInstall:
    'Run when a release is ready to be applied and the previous one is still running, at this place among the hooks.',
  beforeLaunch: 'Run just before a release is applied, at this place among the hooks.',
  afterLaunch: 'Run after a release was applied, at this place among the hooks.',
  afterAuthFail: 'Run when a module is not authorized, at this place among the hooks.',
  beforeUninstall:
    'Run after the release of a module was removed and before its files are removed, at this place among the hooks.',
};

/** The schedule binding of v1. */
const schedule = object(
  'One schedule.',
  { ...queued, crontab: text('When to run: 5 or 6 crontab fields, or a word such as @hourly or @every 5m.') },
  ['crontab'],
);

function watchEvents(description: string): ConfigSchema {
  return anyListOf(description, choice('An event.', ['Added', 'Modified', 'Deleted']));
}

/** The kubernetes binding of v1. */
const kubernetes = object(
  'One set of watched objects.',
  {
    ...queued,
    apiVersion: text('API version, `v1` or `group/version`; default the preferred version of the kind.'),
    kind: {
      ...text('Kind of the objects; plural and short names are accepted, in any case.'),
      minLength: 1,
    },
    watchEvent: watchEvents('Old name of executeHookOnEvent; used if that is absent.'),
    executeHookOnEvent: watchEvents('Events that run the hook; default all, an empty list none.'),
    executeHookOnSynchronization: flag('Whether the hook is run with the objects that exist at start.', true),
    waitForSynchronization: flag(
      'Whether the next steps wait for the run with the existing objects; false has an effect only if queue is set.',
      true,
    ),
    keepFullObjectsInMemory: flag(
      'Whether contexts and snapshots contain the full objects in addition to filter results.',
      true,
    ),
    jqFilter: text('jq program; its result is added to each object, and only changes of it are events.'),
    resynchronizationPeriod: text('Accepted and ignored.'),
    debounce: object(
      'Runs the hook once for events that come in quick succession.',
      {
        after: text('The run is queued when no event has come for this time, such as 2s.'),
        max: text(
          'The run is queued this long after its first event at the latest; default ten times `after`.',
        ),
      },
      ['after'],
    ),
    coalesce: {
      ...choice(
        '`object`: of the events of an object that wait for the hook, only what leads to its last state is kept.',
        ['none', 'object'],
      ),
      default: 'none',
    },
    nameSelector,
    labelSelector,
    fieldSelector,
    namespace: {
      ...object('Namespaces of the objects; default all.', {
        nameSelector,
        labelSelector,
      }),
      minProperties: 1,
    },
  },
  ['kind'],
);

/** Lists of codes for `exitCodes` and `statusCodes`, with the range that each accepts. */
function outcomeCodes(description: string, minimum: number, maximum: number): ConfigSchema {
  const code: ConfigSchema = { type: 'integer', minimum, maximum };
  return {
    ...object(description, {
      temporary: listOf('Nothing is wrong, only not yet time: the run is repeated after a while.', code),
      permanent: listOf('A retry is useless: the run is not repeated.', code),
    }),
    minProperties: 1,
  };
}

/** At least one of the two limits: an empty `retry` would mean nothing. */
const retryBudget: ConfigSchema = {
  ...object('How often and how long a failed run is retried; default for ever.', {
    max: { type: 'integer', description: 'Retries after the first attempt.', minimum: 0 },
    within: text('How long after the first failure a retry may begin, such as 2h.'),
    onExhausted: {
      ...choice(
        'What a run comes to whose retries are used up: `fail` is a permanent failure, `drop` drops runs for events and schedules with a warning.',
        ['fail', 'drop'],
      ),
      default: 'fail',
    },
  }),
  minProperties: 1,
  anyOf: [{ required: ['max'] }, { required: ['within'] }],
};

/** `executionMinInterval` and `executionBurst` need each other. */
const settings: ConfigSchema = {
  ...object('Limits for runs of this hook.', {
    executionMinInterval: text('At most one run starts in this time (such as 3s); requires executionBurst.'),
    executionBurst: {
      type: 'integer',
      description: 'How many runs may start at once after idle time; requires executionMinInterval.',
      minimum: 0,
    },
    timeout: text('Time limit of one run, such as 30s.'),
    restartOnChange: flag(
      'Whether a change of the file of the hook ends a run in progress and starts it again with the new file (only with --watch-files).',
      false,
    ),
    exitCodes: outcomeCodes('Exit codes of an executable hook with a meaning of their own.', 1, 255),
    statusCodes: outcomeCodes(
      'Statuses of the response of an HTTP hook with a meaning of their own.',
      400,
      599,
    ),
    retry: retryBudget,
  }),
  minProperties: 1,
  dependencies: { executionMinInterval: ['executionBurst'], executionBurst: ['executionMinInterval'] },
};

/** Schemas of the lifecycle bindings that a hook of the given owner may have: a key with an order number for each. */
function lifecycleSchemas(scope: HookScope): Readonly<Record<string, ConfigSchema>> {
  return Object.fromEntries(
    lifecycleBindingsOf(scope).map((binding) => {
      const order = { type: 'integer', description: LIFECYCLE[binding] };
      // Start-up order may be negative, the order of all other lifecycle bindings may not.
      return [binding, binding === 'onStartup' ? order : { ...order, minimum: 0 }];
    }),
  );
}

/** Order numbers of deploy bindings are not negative. */
const deploySchemas = Object.fromEntries(
  DEPLOY_BINDINGS.map((binding) => [
    binding,
    { type: 'integer', description: DEPLOY[binding], minimum: 0 } satisfies ConfigSchema,
  ]),
);

const listSchemas: Readonly<Record<SectionOf<ListKind>, ConfigSchema>> = {
  schedule: listOf('Run on a schedule.', schedule),
  kubernetes: listOf('Run when objects in the cluster change.', kubernetes),
  kubernetesValidating: validatingSchema,
  kubernetesMutating: mutatingSchema,
  kubernetesCustomResourceConversion: conversionSchema,
};

/** JSON schema of `--config` output, version v1, for global or module hooks. */
export function hookConfigSchema(scope: HookScope): ConfigSchema {
  return {
    ...object(
      `What a ${scope} hook prints for --config: when it runs.`,
      {
        configVersion: { type: 'string', description: 'Version of this format.', const: 'v1' },
        ...lifecycleSchemas(scope),
        ...(scope === 'global' ? deploySchemas : {}),
        ...listSchemas,
        settings,
      },
      ['configVersion'],
    ),
    minProperties: 2,
  };
}

/** Items of v0 were never checked for unknown properties, and hooks rely on it. */
function open(schema: ConfigSchema): ConfigSchema {
  return { ...schema, additionalProperties: true };
}

/** In v0 a property of each item. */
const allowFailure: ConfigSchema = {
  type: 'boolean',
  description: 'Whether a failed run is dropped instead of being repeated.',
  default: false,
};

/** The schedule binding of v0. */
const scheduleV0 = object(
  'One schedule.',
  {
    name: text('Name of the binding; default schedule.'),
    crontab: text('When to run: 5 or 6 crontab fields, or a word such as @hourly or @every 5m.'),
    allowFailure,
  },
  ['crontab'],
);

/** The kubernetes binding of v0. */
const onKubernetesEvent = object(
  'One set of watched objects.',
  {
    name: text('Name of the binding; default onKubernetesEvent.'),
    event: anyListOf('Events that run the hook; none if absent or empty.', {
      ...choice('An event.', ['add', 'update', 'delete']),
    }),
    kind: { ...text('Kind of the objects; plural and short names are accepted, in any case.'), minLength: 1 },
    objectName: text('Name of the one object to watch; default all.'),
    selector: open({ ...labelSelector, minProperties: 0 }),
    namespaceSelector: {
      type: 'object',
      description: 'Namespaces of the objects; default all.',
      properties: {
        matchNames: anyListOf('Names of the namespaces; an empty list means all.', string),
        any: { type: 'boolean', description: 'True: all namespaces, regardless of matchNames.' },
      },
    },
    jqFilter: text('jq program; only changes of its result are events.'),
    allowFailure,
  },
  ['kind'],
);

/** JSON schema of `--config` output without `configVersion`, for global or module hooks. */
export function hookConfigSchemaV0(scope: HookScope): ConfigSchema {
  return {
    ...object(`What a ${scope} hook prints for --config in the old format: when it runs.`, {
      ...lifecycleSchemas(scope),
      schedule: anyListOf('Run on a schedule.', open(scheduleV0)),
      onKubernetesEvent: anyListOf('Run when objects in the cluster change.', open(onKubernetesEvent)),
    }),
    minProperties: 1,
  };
}
