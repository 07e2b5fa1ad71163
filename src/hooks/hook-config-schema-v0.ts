import {
  anyListOf,
  choice,
  labelSelector,
  object,
  type Schema,
  string,
  text,
} from './config-schema-parts.ts';
import type { HookScope } from './hook-config.ts';
import { lifecycleSchemas } from './hook-config-schema.ts';

/** Items of v0 were never checked for unknown properties, and hooks rely on it. */
function open(schema: Schema): Schema {
  return { ...schema, additionalProperties: true };
}

const allowFailure: Schema = {
  type: 'boolean',
  description: 'Whether a failed run is dropped instead of being repeated.',
  default: false,
};

const schedule = object(
  'One schedule.',
  {
    name: text('Name of the binding; default schedule.'),
    crontab: text('When to run: 5 or 6 crontab fields, or a word such as @hourly or @every 5m.'),
    allowFailure,
  },
  ['crontab'],
);

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
export function hookConfigSchemaV0(scope: HookScope): Schema {
  return {
    ...object(`What a ${scope} hook prints for --config in the old format: when it runs.`, {
      ...lifecycleSchemas(scope),
      schedule: anyListOf('Run on a schedule.', open(schedule)),
      onKubernetesEvent: anyListOf('Run when objects in the cluster change.', open(onKubernetesEvent)),
    }),
    minProperties: 1,
  };
}
