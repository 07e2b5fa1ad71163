/** The schema of what changed since a module last ran well. */

import { count, list, object, orNull, string, stringOrNull, time, timeOrNull } from './schema-parts.ts';

const change = { before: string('What it was.'), now: string('What it is.') };

export const CHANGED_PROPERTIES = {
  since: timeOrNull('When the last run that succeeded ended; null if none is known.'),
  run: stringOrNull('Its id.'),
  version: orNull(object(change), 'The version of the module; null if it is the same.'),
  files: orNull(object(change), 'Digests of its files; null if they are the same.'),
  values: list(
    object({
      section: string('Key of the module, or global.'),
      pointer: string('JSON pointer below the section.'),
      ...change,
      source: string('The layer or hook that set it.'),
    }),
    'Changed values as JSON, the first 50, with secrets masked and cut at 200 characters; empty text for none.',
  ),
  moreValues: count('How many values are not listed.'),
  objects: list(
    object({
      resource: string('`<namespace>/<Kind>/<name>`.'),
      fields: list(string('JSON pointer.'), 'What is different.'),
      changedBy: list(string('Field manager.'), 'Who changed it, the last one first.'),
      since: time('When that was noticed.'),
    }),
    'Objects of the release that others changed; empty without drift detection.',
  ),
};
