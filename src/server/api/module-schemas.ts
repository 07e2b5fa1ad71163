/**
 * Schemas of the responses about one module. `schemas.ts` joins them with the others. Descriptions are for authors of
 * clients, so they name units and say when a field is null.
 */

import { RUN } from './run-schemas.ts';
import {
  count,
  flag,
  list,
  number,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';

/** Of an explanation only what all modules have: `explain module` shows the rest. */
/** `/modules/{name}`: its fields are those of `status/module-explanation.ts`. */
const EXPLANATION: Schema = {
  type: 'object',
  properties: {
    module: text('Name of the module.'),
    status: text('Its state in one word.'),
    isEnabled: flag('Whether it is enabled.'),
    reason: text('Why.'),
    waitsFor: list(text('A sentence.'), 'What it waits for, the nearest first.'),
  },
  required: ['module', 'status', 'isEnabled', 'reason', 'waitsFor'],
};

/** For content that modules define. */
const ANY: Schema = { description: 'Any JSON value.' };
const MODULE_NAME = text('Name of the module, or `global`.');
const LAYER = oneOf(
  ['hook', 'config-map', 'files', 'default'],
  'Where it comes from: a patch of a hook, the ConfigMap, values files, or a default of the schema.',
);

/** `/modules/{name}/values` */
const VALUES = object({
  module: MODULE_NAME,
  sections: list(
    object({
      name: text('Key of the section in values.'),
      values: list(
        object({
          pointer: text('JSON pointer below the section.'),
          value: ANY,
          layer: LAYER,
          hook: text('Hook that set it; empty for other layers.'),
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
      name: text('Key of the section in values.'),
      patches: list(
        object({
          hook: text('Hook that wrote it.'),
          op: text('Operation, such as add or remove.'),
          path: text('JSON pointer, with the section in front.'),
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
      hook: text('Name of the hook.'),
      bindings: list(
        object({
          binding: text('Name of the binding.'),
          kind: text('Kind that is watched.'),
          queue: text('Name of the queue.'),
          count: count('Objects in the snapshot.'),
          added: count('Objects added since the start of the operator.'),
          modified: count('Changes since then.'),
          deleted: count('Deletions since then.'),
          problem: textOrNull('Why it may be out of date.'),
          items: list(
            object({
              namespace: text('Empty for what has none, and where only filter results are kept.'),
              name: text('Empty where only filter results are kept.'),
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
      name: text('Name of the hook.'),
      transport: oneOf(['executable', 'in-process', 'http'], 'How it is run.'),
      runningMs: {
        type: ['number', 'null'],
        description: 'For how long it has been running; null while it does not.',
      },
      bindings: list(
        object({
          type: text('schedule, kubernetes, beforeHelm and so on.'),
          name: text('Name of the binding.'),
          queue: text('Queue of the runs; empty for webhooks.'),
          order: { type: ['number', 'null'], description: 'Of a lifecycle binding.' },
          crontab: text('Of a schedule.'),
          nextAt: timeOrNull('The next tick of the crontab.'),
          kind: text('Kind that is watched.'),
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
  module: text('Name of the module.'),
  drift: orNull(
    {
      type: 'object',
      properties: {
        mode: oneOf(['warn', 'heal'], 'What becomes of drift.'),
        objects: list(
          {
            ...object({
              resource: text('`<namespace>/<Kind>/<name>`.'),
              fields: list(text('JSON pointer.'), 'What is different.'),
              changedBy: list(text('Field manager.'), 'Who changed it, the last one first.'),
              since: timeOrNull('When that was noticed.'),
              outlook: text('What becomes of it.'),
              correction: { type: 'object', description: 'When it is corrected, if that is put off.' },
            }),
            required: ['resource', 'fields', 'changedBy', 'since', 'outlook'],
          },
          'Objects that others changed.',
        ),
        uncompared: list(
          object({ resource: text('The object.'), error: text('Why.') }),
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
  module: text('Name of the module.'),
  revisions: list(
    object({
      revision: count('Its number.'),
      status: text('Its state, such as deployed or superseded.'),
      deployedAt: timeOrNull('When it was deployed.'),
      chart: text('`<name>-<version>`; empty if the record cannot be read.'),
      description: text('What helm says about it, or why its record cannot be read.'),
    }),
    'The last 20 revisions of the release, the newest first.',
  ),
  diff: orNull(
    object({
      from: count('The older revision, as it was requested.'),
      to: count('The newer one.'),
      text: text('A unified difference of their objects; data of Secrets shows as asterisks.'),
    }),
    'Null unless `from` and `to` are given.',
  ),
});

/** `/modules/{name}/diff`: what an upgrade would change now. */
const DIFF = object({
  module: text('Name of the module.'),
  text: text('What the next run would change in the cluster, as a unified difference, or `No diff found`.'),
  notes: list(text('A sentence.'), 'What cannot be compared, and what may still change it.'),
  tookMs: number('How long that took.'),
});

/** `/about` */
const ABOUT = object({
  version: text('Version of the operator.'),
  bootId: text('Different after each start.'),
  at: time('When the response was made.'),
  replica: text('Name of the pod or the machine.'),
  namespace: text('Namespace of the operator.'),
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
      name: text('Its name.'),
      description: text('What it does.'),
      default: text('Its value at the start.'),
      value: text('Its value.'),
      expiresAt: timeOrNull('When the previous value returns.'),
      lastError: text('Why another value could not be put into force.'),
    }),
    'Runtime parameters, as `config list` shows them.',
  ),
  watches: list(
    object({
      module: text('Empty for a global hook.'),
      hook: text('Name of the hook.'),
      binding: text('Name of the binding.'),
      kind: text('Kind that is watched.'),
      ageMs: {
        type: ['number', 'null'],
        description: 'Since the API server last confirmed the state; null before the first list.',
      },
      problem: textOrNull('Why it cannot be opened.'),
    }),
    'The watches of hooks.',
  ),
});

/** `/graph` */
const GRAPH = object({
  nodes: list(
    object({
      name: text('Name of the module.'),
      order: number('Its order number: modules run by it, and equal ones may run at the same time.'),
      status: text('Its state in one word.'),
    }),
    'All modules, in run order.',
  ),
  edges: list(
    object({
      from: text('The module that requires.'),
      to: text('The module that is required; there may be none of that name.'),
      range: textOrNull('Range of versions; null: any.'),
      isOptional: flag('Whether it may be absent.'),
    }),
    'What modules require.',
  ),
});

/** By the name of the file in docs/schema/api. */
export const MODULE_SCHEMAS: Readonly<Record<string, Schema>> = {
  module: EXPLANATION,
  'module-values': VALUES,
  'module-patches': PATCHES,
  'module-snapshots': SNAPSHOTS,
  'module-hooks': HOOKS,
  'module-drift': DRIFT,
  'module-history': HISTORY,
  'module-diff': DIFF,
  graph: GRAPH,
  about: ABOUT,
};
