/**
 * JSON schemas of the responses of the API. `docs/schema/api` has a file for each. Tests compare the files and real
 * responses with these constants, so a new field is added here, in the route and in the types of the page.
 */
import { ACTION_NAMES } from '../../status/action-names.ts';
import { NEXT_ITEM_KINDS } from '../../status/next-item.ts';
import { ACTION_FIELDS } from './actions.ts';
import { UPDATE_OF_ROW } from './delivery-schemas.ts';
import { MODULE_SCHEMAS } from './module-schemas.ts';
import { RUN, RUN_PROPERTIES, TRIGGERED_BY } from './run-schemas.ts';
import {
  count,
  flag,
  list,
  number,
  object,
  oneOf,
  type ResponseSchema,
  string,
  stringOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';
import { DOCS_SCHEMA, SEARCH_SCHEMA } from './search.ts';
import { TIMELINE } from './timeline-schema.ts';

/** Something that a task waits for. */
const WAIT = object({
  for: oneOf(['head', 'retry', 'pause', 'module', 'synchronization', 'rate', 'keys'], 'What kind of thing.'),
  text: string('For people.'),
  until: timeOrNull('When that ends at the latest, if that is known.'),
  ref: stringOrNull('Id of the task, or name of the module.'),
});

/** A task in a queue. */
const TASK = object({
  id: string('`<queue>/<number>`, the same over all attempts.'),
  type: string('Type of the task, such as ModuleRun.'),
  module: string('Name of the module; empty for a global task.'),
  hook: string('Name of the hook; empty for a task that is not the run of one.'),
  binding: string('Kind of the binding of a hook run.'),
  trigger: string('What led to it.'),
  eventId: string('The same for all tasks and runs that one event led to.'),
  triggeredBy: TRIGGERED_BY,
  queuedAt: time('Since when it waits: since it was queued, or since its last attempt.'),
  failures: count('Failed attempts.'),
  lastError: string('Why the last attempt failed; empty before the first failure.'),
  lastCode: string('Code of that error (docs/errors.md); empty without one.'),
  waits: list(WAIT, 'What it waits for, the nearest first; empty while it runs.'),
});

/** A queue with its first tasks. */
const QUEUE = object({
  name: string('Name of the queue.'),
  length: count('Number of all its tasks.'),
  keys: count('How many keys of the queue have tasks: each is a queue `name[key]`, of which 100 are listed.'),
  status: object(
    {
      type: oneOf(['idle', 'waiting', 'running', 'repeating', 'delayed', 'stopped'], 'What its worker does.'),
      since: timeOrNull('Since when.'),
      until: timeOrNull('When the first task is retried.'),
    },
    'What the worker of the queue does.',
  ),
  tasks: list(TASK, 'The first tasks, the running one first.'),
  more: count('How many tasks are not listed.'),
});

/** Something that happens at a known time. */
const NEXT_ITEM = object({
  at: time('When it happens.'),
  kind: oneOf(NEXT_ITEM_KINDS, 'What kind of thing.'),
  text: string('For people.'),
  module: string('Name of the module; empty for something global.'),
  hook: string('Name of the hook.'),
  crontab: string('Of a schedule.'),
});

/** A module in the list of all: fields without a value are absent, to keep the list small. */
const MODULE = {
  ...object({
    module: string('Name of the module.'),
    status: string('Its state in one word.'),
    since: time('Since when: for a failing module the end of the first failure in a row.'),
    source: string('What decided that.'),
    reason: string('Why.'),
    waitsFor: string('The nearest thing that it waits for, if nothing holds it up.'),
    moreWaits: count('How many other things it waits for, if nothing holds it up.'),
    heldUpBy: string('The first thing in its way, also of a module whose last run succeeded.'),
    heldUpRef: string('The object in its way, such as queue/main, if that has a name.'),
    lastError: string('Why the last attempt failed.'),
    nextTryAt: time('When it is tried again.'),
    paused: object(
      { reason: string('Why.'), until: timeOrNull('Until when; null until it is resumed.') },
      'The pause of the module.',
    ),
    lastRun: object(
      {
        startedAt: time('When it began.'),
        durationMs: count('How long it took.'),
      },
      'Its last run; its result is the last letter of `recent`.',
    ),
    recent: string('Its last 20 runs, the oldest first: s success, f failed, a aborted.'),
    version: string('Of the files that run.'),
    revision: count('Of its release.'),
    update: UPDATE_OF_ROW,
  }),
  required: ['module', 'status', 'since', 'reason'],
};

/** The state of the converge. */
const CONVERGE: ResponseSchema = {
  type: 'object',
  description: 'Progress of the first converge.',
  properties: {
    type: oneOf(['not-started', 'first', 'done'], 'How far it is.'),
    tasks: count('Tasks in queue main that belong to a converge.'),
    isolated: list(string('Name of a module.'), 'Modules that fail while the others go on.'),
  },
  required: ['type'],
  additionalProperties: false,
};

/** A hook in progress. */
const RUNNING_HOOK = object({
  hook: string('Name of the hook, with its module in front.'),
  module: string('Name of the module; empty for a global hook.'),
  binding: string('Kind of its binding.'),
  queue: string('Name of the queue; empty for a request to a webhook.'),
  task: string('Type of the task that runs it, such as ModuleRun; empty for a request to a webhook.'),
  pid: {
    type: ['integer', 'null'],
    description: 'Of its process, which leads a group; null for a hook without one.',
  },
  runningMs: number('For how long it runs.'),
  startedAt: time('When it began.'),
  isDroppable: flag('Whether its task can be dropped: no other task waits for it.'),
});

/** One thing that holds the operator up. */
const PROBLEM = object({
  level: oneOf(['notice', 'waiting', 'broken'], 'Whether it needs a person.'),
  text: string('One sentence.'),
  since: timeOrNull('The first failure in a row, or the start of what runs or is paused.'),
  module: string('Name of the module.'),
  hook: string('Name of the hook, with its module in front.'),
  binding: string('Name or kind of the binding.'),
  queue: string('Name of the queue.'),
  run: string('Id of the last run.'),
  advice: list(string('A sentence or a command.'), 'What a person can do, the best first.'),
  actions: list(oneOf(ACTION_NAMES, 'Name of an action.'), 'The requests that help, the best first.'),
});

/** `/now`: the first screen of the page. */
const NOW = object({
  version: string('Version of the operator.'),
  bootId: string('Different after each start.'),
  at: time('When the response was made.'),
  headline: object(
    {
      level: oneOf(['well', 'notice', 'waiting', 'broken'], 'Whether it needs a person.'),
      text: string('The most important problem, or that there is none.'),
      problems: list(string('A sentence.'), 'The first 20 problems, the most important first.'),
      details: list(PROBLEM, 'The same problems, with time, place, advice and actions.'),
      more: count('How many problems are not listed.'),
    },
    'The status of the operator.',
  ),
  converge: CONVERGE,
  counts: object(
    {
      modules: {
        type: 'object',
        description: 'How many modules have which status.',
        additionalProperties: { type: 'integer' },
      },
      tasks: count('Tasks in all queues.'),
    },
    'Numbers of things.',
  ),
  queues: list(QUEUE, 'The first 20 queues with tasks, and the first five tasks of each.'),
  moreQueues: count('How many queues with tasks are not listed.'),
  runningHooks: list(RUNNING_HOOK, 'Hooks that run, the longest running first.'),
  next: list(NEXT_ITEM, 'The next five things within 24 hours.'),
  runs: list(RUN, 'The last ten runs, the newest first.'),
});

/** `/runs/{name}`: a run with its causes, effects and output. */
const DETAILS = object({
  ...RUN_PROPERTIES,
  cause: list(RUN, 'From the first run of the event to the one that led to this.'),
  effects: list(
    object({ ...RUN_PROPERTIES, causedBy: string('Id of the run that directly led to it.') }),
    'Further attempts, and the runs that it led to, in order.',
  ),
  output: object(
    {
      head: string('The first 16 Ki characters, by lines.'),
      tail: string('The last 48 Ki characters of what follows.'),
      cut: count('Characters between them that were not kept.'),
    },
    'What the hook printed.',
  ),
});

/** `/me`: who the client is, and what it may request. */
const ME = object({
  signIn: oneOf(['socket', 'token', 'kubernetes', 'proxy'], 'How the client proved who it is.'),
  user: string('Name of the user; empty where all clients share one secret.'),
  groups: list(string('Name of a group.'), 'Groups of the user.'),
  expiresAt: timeOrNull('When the sign-in ends, if that is known.'),
  allowsActions: flag('Whether actions are switched on.'),
  module: stringOrNull('The module that the parameter `module` names; null: all of them.'),
  actions: list(
    object({
      action: oneOf(ACTION_NAMES, 'The action.'),
      verb: string('The verb that it needs in a rule about `modules.addon-operator.io`.'),
      refusal: stringOrNull('Why the client may not request it; null if it may.'),
    }),
    'The actions, where they are switched on.',
  ),
});

/** The body of a POST to `/modules/{name}/actions` or `/actions`. */
const ACTION = {
  ...object({
    action: oneOf(ACTION_NAMES, 'What to do.'),
    ...Object.fromEntries(Object.entries(ACTION_FIELDS).map(([name, what]) => [name, string(what)])),
  }),
  required: ['action'],
};

/** The response to an action that was accepted. */
const OPERATION = object({
  operation: object(
    {
      module: string('Name of the module; empty for an action on something else.'),
      target: string('What it is done with, such as `queue main`.'),
      action: oneOf(ACTION_NAMES, 'What is done.'),
      by: string('What it was requested with: page or debug socket, with the person if one signed in.'),
      message: string('For people.'),
    },
    'What was begun.',
  ),
});

/** `/audit`: the last actions. */
const AUDIT = object({
  entries: list(
    object({
      time: time('When it was requested.'),
      by: string('The client.'),
      action: oneOf(ACTION_NAMES, 'What was requested.'),
      target: string('What it concerned, such as `module web`.'),
      reason: string('Why; empty if none was given.'),
      result: oneOf(['accepted', 'refused', 'failed'], 'Whether it was begun.'),
      message: string('For people.'),
    }),
    'The last 200 requests for actions since the start, the newest first.',
  ),
});

/** Names the pod that leads, for clients that reached a standby. */
const STANDBY = object(
  {
    replica: string('Name of the pod that responds.'),
    namespace: string('Namespace of the operator.'),
    leader: string('Pod of the leader; empty without one. The same as replica: it leads, and still starts.'),
  },
  'Only with the code STANDBY: the replica is not the leader.',
);
/** Every response with a status from 400 on. */
const ERROR_PROPERTIES = object({
  error: object(
    { code: string('One of the codes in docs/errors.md.'), message: string('For people.') },
    'What went wrong.',
  ),
});
const ERROR = {
  ...ERROR_PROPERTIES,
  properties: {
    ...(ERROR_PROPERTIES['properties'] as Readonly<Record<string, ResponseSchema>>),
    standby: STANDBY,
  },
};

/** By the name of the file in docs/schema/api. */
export const API_SCHEMAS: Readonly<Record<string, ResponseSchema>> = Object.fromEntries(
  Object.entries({
    now: NOW,
    queues: object({ queues: list(QUEUE, 'All queues, main first.') }),
    modules: object({ modules: list(MODULE, 'All modules, in run order.') }),
    ...MODULE_SCHEMAS,
    me: ME,
    runs: object({
      runs: list(RUN, 'The newest first.'),
      next: stringOrNull('The id to continue with as `before`; null at the end.'),
    }),
    run: DETAILS,
    event: object({
      eventId: string('Id of the event.'),
      runs: list(
        object({
          ...RUN_PROPERTIES,
          causedBy: stringOrNull(
            'Id of the run that directly led to it; null for the first one, and if it is not known any more.',
          ),
        }),
        'All runs that the event led to, the oldest first.',
      ),
    }),
    timeline: TIMELINE,
    next: object({ items: list(NEXT_ITEM, 'The next first.') }),
    search: SEARCH_SCHEMA,
    docs: DOCS_SCHEMA,
    action: ACTION,
    operation: OPERATION,
    audit: AUDIT,
    error: ERROR,
  }).map(([name, schema]) => [name, { $schema: 'http://json-schema.org/draft-07/schema#', ...schema }]),
);
