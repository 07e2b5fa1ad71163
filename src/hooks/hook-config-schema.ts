import { GLOBAL_LIFECYCLE_BINDINGS, MODULE_LIFECYCLE_BINDINGS } from './hook-config.ts';

type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const boolean: Schema = { type: 'boolean' };
const strings: Schema = { type: 'array', items: string };

function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, required };
}

function listOf(items: Schema): Schema {
  return { type: 'array', minItems: 1, items };
}

const nameSelector = object({ matchNames: strings }, ['matchNames']);

const labelSelector: Schema = {
  ...object({
    matchLabels: { type: 'object', additionalProperties: string },
    matchExpressions: {
      type: 'array',
      items: object(
        {
          key: string,
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: strings,
        },
        ['key', 'operator'],
      ),
    },
  }),
  minProperties: 1,
};

const fieldSelector = object(
  {
    matchExpressions: {
      type: 'array',
      items: object(
        {
          field: string,
          operator: { type: 'string', enum: ['=', '==', 'Equals', '!=', 'NotEquals'] },
          value: string,
        },
        ['field', 'operator', 'value'],
      ),
    },
  },
  ['matchExpressions'],
);

const watchEvents: Schema = {
  type: 'array',
  items: { type: 'string', enum: ['Added', 'Modified', 'Deleted'] },
};

const queued = {
  name: string,
  allowFailure: boolean,
  queue: string,
  group: string,
  includeSnapshotsFrom: listOf(string),
};

const schedule = object({ ...queued, crontab: string }, ['crontab']);

const kubernetes = object(
  {
    ...queued,
    apiVersion: string,
    kind: { type: 'string', minLength: 1 },
    watchEvent: watchEvents,
    executeHookOnEvent: watchEvents,
    executeHookOnSynchronization: boolean,
    waitForSynchronization: boolean,
    keepFullObjectsInMemory: boolean,
    jqFilter: string,
    resynchronizationPeriod: string,
    nameSelector,
    labelSelector,
    fieldSelector,
    namespace: { ...object({ nameSelector, labelSelector }), minProperties: 1 },
  },
  ['kind'],
);

const settings: Schema = {
  ...object({
    executionMinInterval: string,
    executionBurst: { type: 'integer', minimum: 0 },
    timeout: string,
  }),
  minProperties: 1,
  dependencies: { executionMinInterval: ['executionBurst'], executionBurst: ['executionMinInterval'] },
};

/** JSON schema of `--config` output, version v1, for global or module hooks. */
export function hookConfigSchema(scope: 'global' | 'module'): Schema {
  const lifecycle = scope === 'global' ? GLOBAL_LIFECYCLE_BINDINGS : MODULE_LIFECYCLE_BINDINGS;
  const orders = lifecycle.map((binding): [string, Schema] => [
    binding,
    // Start-up order may be negative, the order of all other lifecycle bindings may not.
    binding === 'onStartup' ? { type: 'integer' } : { type: 'integer', minimum: 0 },
  ]);
  return {
    ...object(
      {
        configVersion: { type: 'string', const: 'v1' },
        ...Object.fromEntries(orders),
        schedule: listOf(schedule),
        kubernetes: listOf(kubernetes),
        settings,
      },
      ['configVersion'],
    ),
    minProperties: 2,
  };
}
