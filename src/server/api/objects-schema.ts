/** The schema of `/modules/{name}/objects`. */

import type { ObjectState } from '../../status/release-objects.ts';
import { count, list, object, oneOf, string, time, timeOrNull } from './schema-parts.ts';

const STATES: readonly ObjectState[] = ['ready', 'not-ready', 'missing', 'not-permitted', 'unknown'];

export const MODULE_OBJECTS = object({
  module: string('Name of the module.'),
  objects: list(
    object({
      apiVersion: string('Of the manifest.'),
      kind: string('Of the manifest.'),
      namespace: string('Empty for a cluster-scoped kind.'),
      name: string('Name of the object.'),
      state: oneOf(
        STATES,
        'By the rules of kstatus; not-permitted: the operator may not read the kind; unknown: it could not be read.',
      ),
      reason: string('Why it is not ready, or not known; empty for one that is ready.'),
      createdAt: timeOrNull('When it was created; null if that is not known.'),
      drift: list(string('JSON pointer.'), 'What others changed; empty without drift detection.'),
      events: list(
        object({
          at: time('When it happened last.'),
          type: string('Normal or Warning.'),
          reason: string('In one word.'),
          message: string('For people, at most 300 characters.'),
          count: count('How often.'),
        }),
        'Events of the last hour about the object or its pods, the newest first, at most five.',
      ),
      logs: string('The command that prints the logs of its pods; empty for an object without pods.'),
      describe: string('The command that describes it.'),
    }),
    'The objects of the release, problems first; without their data.',
  ),
  eventsProblem: string('Why Events are not shown; empty if they are.'),
});
