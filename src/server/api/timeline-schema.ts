/** The schema of `/timeline`. */

import type { MarkKind } from '../../journal/marks.ts';
import { RUN_PROPERTIES } from './run-schemas.ts';
import { flag, list, object, oneOf, string, time, timeOrNull } from './schema-parts.ts';

const { id, type, hook, binding, startedAt, durationMs, result } = RUN_PROPERTIES;

const KINDS: readonly MarkKind[] = ['start', 'outage', 'config', 'files', 'version'];

export const TIMELINE = object({
  from: time('The beginning of the period.'),
  to: time('The time of the response.'),
  isComplete: flag('False if runs at the beginning of the period are left out, because there are too many.'),
  modules: list(
    object({
      module: string('Name of the module.'),
      runs: list(
        object({ id, type, hook, binding, startedAt, durationMs, result }),
        'Its runs, and those of its hooks that are tasks of their own, the oldest first.',
      ),
    }),
    'Modules that ran within the period, in run order.',
  ),
  marks: list(
    object({
      kind: oneOf(
        KINDS,
        'start: the operator began to act; outage: the API server gave no response; config: the ConfigMap; files: saved files were loaded; version: a module has other files, is new or removed.',
      ),
      at: time('When it happened, or began.'),
      until: timeOrNull('When it ended; null for a moment.'),
      text: string('For people.'),
      module: string('Name of the module; empty for something global.'),
    }),
    'What happened beside the runs, the oldest first.',
  ),
});
