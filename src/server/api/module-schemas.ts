/**
 * Schemas of the responses about one module. `schemas.ts` joins them with the others. Descriptions are for authors of
 * clients, so they name units and say when a field is null.
 */

import { CHANGED_PROPERTIES } from './changed-schema.ts';
import { DELIVERY, MODULE_DELIVERY, UPDATE } from './delivery-schemas.ts';
import { MODULE_OBJECTS } from './objects-schema.ts';
import { RUN } from './run-schemas.ts';
import {
  count,
  flag,
  list,
  number,
  object,
  oneOf,
  orNull,
  type ResponseSchema,
  string,
  stringOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';

/**
 * `/modules/{name}`. Only the fields that every module has are specified; the response has all fields of
 * `status/module-explanation.ts`.
 */
const EXPLANATION: ResponseSchema = {
  type: 'object',
  properties: {
    module: string('Name of the module.'),
    status: string('Its state in one word.'),
    since: time('Since when: for a failing module the end of the first failure in a row.'),
    isEnabled: flag('Whether it is enabled.'),
    reason: string('Why.'),
    waitsFor: list(string('A sentence.'), 'What it waits for, the nearest first.'),
    version: stringOrNull('Of the files that run.'),
    update: UPDATE,
    delivery: MODULE_DELIVERY,
    changed: object(
      CHANGED_PROPERTIES,
      'What changed since its last good run; absent while it does not fail.',
    ),
  },
  required: ['module', 'status', 'since', 'isEnabled', 'reason', 'waitsFor'],
};

/** For content that modules define. */
const ANY: ResponseSchema = { description: 'Any JSON value.' };
const MODULE_NAME = string('Name of the module, or `global`.');
const LAYER = oneOf(
  ['hook', 'config-map', 'files', 'default'],
  'Where it comes from: a patch of a hook, the ConfigMap, values files, or a default of the schema.',
);

/** `/modules/{name}/values` */
const VALUES = object({
  module: MODULE_NAME,
  sections: list(
    object({
      name: string('Key of the section in values.'),
      values: list(
        object({
          pointer: string('JSON pointer below the section.'),
          value: ANY,
          layer: LAYER,
          hook: string('Hook that set it; empty for other layers.'),
          below: list(
            object({ layer: LAYER, value: ANY }),
            'What weaker layers have in its place, the strongest first.',
          ),
        }),
        'Every value that is no map, and empty maps.',
      ),
    }),
    'The section of the module, then the global one.',
  ),
});

/** `/modules/{name}/patches` */
const PATCHES = object({
  module: MODULE_NAME,
  sections: list(
    object({
      name: string('Key of the section in values.'),
      patches: list(
        object({
          hook: string('Hook that wrote it.'),
          op: string('Operation, such as add or remove.'),
          path: string('JSON pointer, with the section in front.'),
          value: ANY,
        }),
        'Operations that are kept, parents before their children.',
      ),
    }),
    'The section of the module, then the global one.',
  ),
});

/** `/modules/{name}/snapshots` */
const SNAPSHOTS = object({
  module: MODULE_NAME,
  hooks: list(
    object({
      hook: string('Name of the hook.'),
      bindings: list(
        object({
          binding: string('Name of the binding.'),
          kind: string('Kind that is watched.'),
          queue: string('Name of the queue.'),
          count: count('Objects in the snapshot.'),
          added: count('Objects added since the start of the operator.'),
          modified: count('Changes since then.'),
          deleted: count('Deletions since then.'),
          problem: stringOrNull('Why it may be out of date.'),
          items: list(
            object({
              namespace: string('Empty for what has none, and where only filter results are kept.'),
              name: string('Empty where only filter results are kept.'),
              content: {
                description:
                  'Result of the filter, or the object; `***` for a Secret, null if it is longer than 16 Ki.',
              },
              length: count('Length of the content as JSON.'),
            }),
            'The first 200 objects.',
          ),
          more: count('How many objects are not listed.'),
        }),
        'Kubernetes bindings.',
      ),
    }),
    'Hooks with kubernetes bindings.',
  ),
});

/** `/modules/{name}/hooks` */
const HOOKS = object({
  module: MODULE_NAME,
  hooks: list(
    object({
      name: string('Name of the hook.'),
      transport: oneOf(['executable', 'in-process', 'http'], 'How it is run.'),
      runningMs: {
        type: ['number', 'null'],
        description: 'For how long it has been running; null while it does not.',
      },
      bindings: list(
        object({
          type: string('schedule, kubernetes, beforeHelm and so on.'),
          name: string('Name of the binding.'),
          queue: string('Queue of the runs; empty for webhooks.'),
          order: { type: ['number', 'null'], description: 'Of a lifecycle binding.' },
          crontab: string('Of a schedule.'),
          nextAt: timeOrNull('The next tick of the crontab.'),
          kind: string('Kind that is watched.'),
          allowFailure: flag('Whether the queue goes on after a failure.'),
        }),
        'What runs it.',
      ),
      runs: list(RUN, 'The last five runs, the newest first.'),
    }),
    'All hooks.',
  ),
});

/** `/modules/{name}/drift` */
const DRIFT = object({
  module: string('Name of the module.'),
  drift: orNull(
    {
      type: 'object',
      properties: {
        mode: oneOf(['warn', 'heal'], 'What becomes of drift.'),
        objects: list(
          {
            ...object({
              resource: string('`<namespace>/<Kind>/<name>`.'),
              fields: list(string('JSON pointer.'), 'What is different.'),
              changedBy: list(string('Field manager.'), 'Who changed it, the last one first.'),
              since: timeOrNull('When that was noticed.'),
              outlook: string('What becomes of it.'),
              correction: { type: 'object', description: 'When it is corrected, if that is put off.' },
            }),
            required: ['resource', 'fields', 'changedBy', 'since', 'outlook'],
          },
          'Objects that others changed.',
        ),
        uncompared: list(
          object({ resource: string('The object.'), error: string('Why.') }),
          'Objects for which it is unknown; absent without any.',
        ),
      },
      required: ['mode', 'objects'],
    },
    'Null without drift detection for the release.',
  ),
});

/** `/modules/{name}/history`, with a comparison if revisions are named. */
const HISTORY = object({
  module: string('Name of the module.'),
  revisions: list(
    object({
      revision: count('Its number.'),
      status: string("Helm's state of it, such as deployed or superseded."),
      outcome: oneOf(['running', 'replaced', 'failed', 'rolled-back', 'unfinished'], 'What became of it.'),
      reason: string('Why it failed or was rolled back, or what it is a rollback to; empty for others.'),
      version: string('Of the module, else of its chart.'),
      files: stringOrNull('Digest of the files of the module; null where it is not recorded.'),
      hasSection: flag('Whether its section of the ConfigMap is recorded.'),
      deployedAt: timeOrNull('When it was deployed.'),
      chart: string('`<name>-<version>`; empty if the record cannot be read.'),
      description: string('What helm says about it, or why its record cannot be read.'),
    }),
    'The last 20 revisions of the release, the newest first.',
  ),
  versions: list(
    object({
      version: string('The version.'),
      digest: string('Of its manifest.'),
      revision: {
        ...count('The newest of the release that was deployed while the version ran; null without one.'),
        type: ['integer', 'null'],
      },
      at: time('When it was switched to.'),
      outcome: oneOf(['running', 'replaced', 'failed', 'rolled-back'], 'What became of it.'),
      reason: string('Why it failed or was replaced; empty if nothing is known.'),
      hasValues: flag('Whether its section of the ConfigMap is kept.'),
    }),
    'The versions that a source delivered, the newest first; empty for a module of a plain directory.',
  ),
  diff: orNull(
    object({
      from: count('The older revision, as it was requested.'),
      to: count('The newer one.'),
      text: string('A unified difference of their objects; data of Secrets shows as asterisks.'),
    }),
    'Null unless `from` and `to` are given.',
  ),
});

/** `/modules/{name}/diff`: what an upgrade would change now. */
const DIFF = object({
  module: string('Name of the module.'),
  text: string('What the next run would change in the cluster, as a unified difference, or `No diff found`.'),
  notes: list(string('A sentence.'), 'What cannot be compared, and what may still change it.'),
  tookMs: number('How long that took.'),
});

/** `/about` */
const ABOUT = object({
  version: string('Version of the operator.'),
  bootId: string('Different after each start.'),
  at: time('When the response was made.'),
  replica: string('Name of the pod or the machine.'),
  namespace: string('Namespace of the operator.'),
  cluster: string('Name of the cluster; empty if it has none.'),
  role: oneOf(['alone', 'leader'], 'alone: without high availability.'),
  allowsActions: flag('Whether who asks may also change something.'),
  process: object(
    {
      startedAt: time('When the process started.'),
      uptimeMs: number('For how long it has been running.'),
      cpuMs: number('CPU time it has used.'),
      rssBytes: count('Its memory.'),
      heapUsedBytes: count('What its objects need of that.'),
      eventLoopDelay: object(
        { meanMs: number('On average.'), p99Ms: number('In one of a hundred cases it was later.') },
        'How late the event loop was, since the start.',
      ),
    },
    'The process.',
  ),
  parameters: list(
    object({
      name: string('Its name.'),
      description: string('What it does.'),
      default: string('Its value at the start.'),
      value: string('Its value.'),
      expiresAt: timeOrNull('When the previous value returns.'),
      lastError: string('Why another value could not be put into force.'),
    }),
    'Runtime parameters, as `config list` shows them.',
  ),
  watches: list(
    object({
      module: string('Empty for a global hook.'),
      hook: string('Name of the hook.'),
      binding: string('Name of the binding.'),
      kind: string('Kind that is watched.'),
      ageMs: {
        type: ['number', 'null'],
        description: 'Since the API server last confirmed the state; null before the first list.',
      },
      problem: stringOrNull('Why it cannot be opened.'),
    }),
    'The watches of hooks.',
  ),
});

/** `/graph` */
const GRAPH = object({
  nodes: list(
    object({
      name: string('Name of the module.'),
      order: number('Its order number: modules run by it, and equal ones may run at the same time.'),
      status: string('Its state in one word.'),
    }),
    'All modules, in run order.',
  ),
  edges: list(
    object({
      from: string('The module that requires.'),
      to: string('The module that is required; there may be none of that name.'),
      range: stringOrNull('Range of versions; null: any.'),
      isOptional: flag('Whether it may be absent.'),
    }),
    'What modules require.',
  ),
});

/** By the name of the file in docs/schema/api. */
export const MODULE_SCHEMAS: Readonly<Record<string, ResponseSchema>> = {
  module: EXPLANATION,
  'module-values': VALUES,
  'module-patches': PATCHES,
  'module-snapshots': SNAPSHOTS,
  'module-hooks': HOOKS,
  'module-drift': DRIFT,
  'module-objects': MODULE_OBJECTS,
  'module-changed': object({ module: string('Name of the module.'), ...CHANGED_PROPERTIES }),
  'module-history': HISTORY,
  'module-diff': DIFF,
  graph: GRAPH,
  delivery: DELIVERY,
  about: ABOUT,
};
