/* Building blocks of the configuration schemas; every part has a description, which editors show. */

/** One JSON schema (draft 7), or a part of one. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

export function text(description: string): ConfigSchema {
  return { type: 'string', description };
}

/** A boolean with its default. */
export function flag(description: string, defaultValue: boolean): ConfigSchema {
  return { type: 'boolean', description, default: defaultValue };
}

export function choice(description: string, values: readonly string[]): ConfigSchema {
  return { type: 'string', description, enum: values };
}

/** A mapping that takes no other properties than these. */
export function object(
  description: string,
  properties: Readonly<Record<string, ConfigSchema>>,
  required: readonly string[] = [],
): ConfigSchema {
  return { type: 'object', description, additionalProperties: false, properties, required };
}

/** A list with at least one item. */
export function listOf(description: string, items: ConfigSchema): ConfigSchema {
  return { type: 'array', description, minItems: 1, items };
}

/** A list that may be empty. */
export function anyListOf(description: string, items: ConfigSchema): ConfigSchema {
  return { type: 'array', description, items };
}

export const string: ConfigSchema = { type: 'string' };

/** `nameSelector` of objects and of namespaces. */
export const nameSelector = object(
  'Selects by name.',
  { matchNames: anyListOf('The names; an empty list selects everything.', string) },
  ['matchNames'],
);

/** `labelSelector`, with the limits that the API server has. */
export const labelSelector: ConfigSchema = {
  ...object('Selects by labels; everything given must match.', {
    matchLabels: {
      type: 'object',
      description: 'Labels with the value each of them must have.',
      additionalProperties: string,
    },
    matchExpressions: anyListOf(
      'Conditions on labels.',
      object(
        'One condition on a label.',
        {
          key: text('Name of the label.'),
          operator: choice('How the label is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: anyListOf('Values for In and NotIn; the other operators take none.', string),
        },
        ['key', 'operator'],
      ),
    ),
  }),
  minProperties: 1,
};

/** `fieldSelector`; which fields can be selected depends on the kind. */
export const fieldSelector = object(
  'Selects by fields; everything given must match.',
  {
    matchExpressions: anyListOf(
      'Conditions on fields.',
      object(
        'One condition on a field.',
        {
          field: text('Path of the field, such as status.phase; which ones are allowed depends on the kind.'),
          operator: choice('How the field is compared.', ['=', '==', 'Equals', '!=', 'NotEquals']),
          value: text('The value to compare with.'),
        },
        ['field', 'operator', 'value'],
      ),
    ),
  },
  ['matchExpressions'],
);

/** Names of kubernetes bindings whose snapshots a context carries. */
export const includeSnapshotsFrom = listOf(
  'Names of kubernetes bindings of this hook whose snapshots are added to the binding context.',
  string,
);

/** Properties of all bindings with a queue. */
export const queued = {
  name: text('Name of the binding, as the binding context repeats it.'),
  allowFailure: flag('Whether a failed run is dropped instead of being repeated.', false),
  queue: {
    ...object(
      'Queue the hook runs in; default main. As a mapping: a queue for each key, several of which run at a time.',
      {
        name: { ...text('Name of the queue.'), minLength: 1 },
        key: text(
          'What runs one after another: `object` (default), `namespace`, or a path in the object, such as `.metadata.labels["app"]`; of a schedule always its name.',
        ),
        parallel: {
          type: 'integer',
          description: 'How many keys run at a time.',
          minimum: 1,
          maximum: 64,
          default: 4,
        },
      },
      ['name'],
    ),
    type: ['string', 'object'],
  },
  group: text(
    'Bindings of one group give the hook one context with the snapshots of all kubernetes bindings of the group.',
  ),
  includeSnapshotsFrom,
};
