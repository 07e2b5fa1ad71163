/**
 * Converts a recording into a test file for `hook test`. Objects of snapshots become the initial cluster, events become
 * applied or deleted objects, outputs become expectations. What a test could not repeat is left out or refused, so that a
 * generated test passes at once.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import type { Recording } from './recording.ts';
import { readOutput } from './secret-masks.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Set by the API server, and different in each cluster. */
const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'ownerReferences',
  'selfLink',
];
/** Deeper patches are not expected of a test, rather than nested without bound. */
const MAX_DEPTH = 20;

/**
 * A file for `hook test` with one case that repeats a recorded run: objects of snapshots exist at the beginning, objects of events
 * are applied, and what the hook wrote is expected.
 *
 * @throws OperatorError CONFIG_INVALID for a run that a test cannot repeat
 */
export function testFileOf(recording: Recording): Fields {
  const { hook, module, at, contexts, configValues, binding } = recording;
  const events = contexts.filter(({ type }) => type === 'Event').map(eventOf);
  // An object that an event applies must not exist before.
  const changed = new Set(events.flatMap(({ object, isDeleted }) => (isDeleted ? [] : [nameOf(object)])));
  const existing = new Map(
    [...snapshotObjects(contexts), ...events.filter(({ isDeleted }) => isDeleted).map(({ object }) => object)]
      .filter((object) => !changed.has(nameOf(object)))
      .map((object) => [nameOf(object), object]),
  );
  const values = Object.fromEntries(
    Object.entries(configValues).filter(
      ([, section]) => isObject(section) && Object.keys(section).length > 0,
    ),
  );
  return {
    hook: module === '' ? `global-hooks/${hook}` : hook,
    cases: [
      {
        name: `as recorded at ${at} for ${binding}`,
        now: at,
        ...(existing.size > 0 && { cluster: [...existing.values()] }),
        ...(Object.keys(values).length > 0 && { values }),
        steps: stepsOf(recording, events),
      },
    ],
  };
}

interface EventObject {
  readonly object: Fields;
  readonly isDeleted: boolean;
}

/** @throws OperatorError CONFIG_INVALID when the object of the event was not recorded */
function eventOf(context: Fields): EventObject {
  const { object, watchEvent, binding } = context;
  if (!isObject(object))
    throw new OperatorError(
      'CONFIG_INVALID',
      `the run cannot become a test: binding ${String(binding)} keeps no objects (keepFullObjectsInMemory: false), so the object of the event is not recorded`,
    );
  return { object: withoutServerFields(object), isDeleted: watchEvent === 'Deleted' };
}

/** Objects of all snapshots; filter results without an object cannot be restored. */
function snapshotObjects(contexts: readonly Fields[]): readonly Fields[] {
  return contexts.flatMap(({ objects, snapshots }) => {
    const lists = [objects, ...(isObject(snapshots) ? Object.values(snapshots) : [])];
    return lists
      .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
      .flatMap((item) =>
        isObject(item) && isObject(item['object']) ? [withoutServerFields(item['object'])] : [],
      );
  });
}

function withoutServerFields(object: Fields): Fields {
  const { metadata, ...rest } = object;
  if (!isObject(metadata)) return object;
  const kept = Object.entries(metadata).filter(([name]) => !SERVER_FIELDS.includes(name));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

/** Identifies an object within the test cluster. */
function nameOf({ apiVersion, kind, metadata }: Fields): string {
  const { namespace = '', name } = isObject(metadata) ? metadata : {};
  return [apiVersion, kind, namespace, name].map(String).join('/');
}

/** The steps that cause a run like the recorded one. */
function stepsOf(recording: Recording, events: readonly EventObject[]): readonly unknown[] {
  const expect = expectationOf(recording);
  const context: Fields = recording.contexts.at(-1) ?? {};
  const { type, binding } = context;
  const hasWatches = listIn(recording.config, 'kubernetes').length > 0;
  if (events.length > 0) {
    const of = (isDeleted: boolean): readonly Fields[] =>
      events.filter((event) => event.isDeleted === isDeleted).map(({ object }) => object);
    const [applied, deleted] = [of(false), of(true)];
    // What one run handled may take two here, so operations are expected of a run for one kind of change only.
    if (applied.length > 0 && deleted.length > 0) return ['start', { apply: applied }, { delete: deleted }];
    return ['start', applied.length > 0 ? { apply: applied, expect } : { delete: deleted, expect }];
  }
  if (type === undefined)
    return [...(hasWatches && binding !== 'onStartup' ? ['start'] : []), { run: binding, expect }];
  if (type === 'Schedule') return ['start', { tick: binding, expect }];
  if (type === 'Synchronization')
    // Other bindings run in the same step.
    return isAlone(recording) ? [{ start: true, expect }] : ['start'];
  throw new OperatorError(
    'CONFIG_INVALID',
    `the run cannot become a test: there is no step for a context of type ${JSON.stringify(type)}`,
  );
}

/** Whether the Synchronization is the only run of the first step. */
function isAlone({ config }: Recording): boolean {
  const { lifecycle } = config;
  const hasStartup = isObject(lifecycle) && lifecycle['onStartup'] !== undefined;
  return !hasStartup && listIn(config, 'kubernetes').length === 1;
}

function listIn(value: Fields, key: string): readonly unknown[] {
  const list = value[key];
  return Array.isArray(list) ? list : [];
}

/** Expects what the run wrote; a failed run expects a failure. */
function expectationOf({ outputs, contexts }: Recording): Fields {
  if (outputs === undefined) return { outcome: 'failure' };
  const operations = readOutput(outputs.kubernetesPatch);
  // What cannot be read is not expected.
  const isRead = operations.length > 0 || outputs.kubernetesPatch.trim() === '';
  const values = addedIn(outputs.valuesPatch);
  const last: Fields = contexts.at(-1) ?? {};
  return {
    ...(contexts.length === 1 && {
      contexts: [{ binding: last['binding'], ...(last['type'] !== undefined && { type: last['type'] }) }],
    }),
    ...(isRead && { operations }),
    ...(values !== undefined && { values }),
  };
}

/** The values that a patch adds, as they are nested; undefined if it does anything else. */
function addedIn(patch: string): Fields | undefined {
  if (patch.trim() === '') return undefined;
  const added: Record<string, unknown> = Object.create(null);
  try {
    const operations: unknown = JSON.parse(patch);
    for (const operation of Array.isArray(operations) ? (operations as readonly unknown[]) : [operations]) {
      if (!isObject(operation) || operation['op'] !== 'add') return undefined;
      const path = String(operation['path']).split('/').slice(1);
      if (path.length > MAX_DEPTH || path.some((key) => /^(?:-|\d+)$|~/.test(key))) return undefined;
      let at = added;
      for (const key of path.slice(0, -1)) {
        const below = at[key] ?? (Object.create(null) as Record<string, unknown>);
        if (!isObject(below)) return undefined;
        at[key] = below;
        at = below;
      }
      at[path.at(-1) ?? ''] = operation['value'];
    }
    return added;
  } catch {
    return undefined;
  }
}
