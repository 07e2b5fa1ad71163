/** Schemas of what sources deliver: `/delivery`, and the parts of responses about modules that show it. */

import {
  count,
  flag,
  list,
  object,
  oneOf,
  orNull,
  type ResponseSchema,
  string,
  stringOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts';

const NEEDS = oneOf(
  ['fix', 'decision', 'time'],
  'What ends it: `fix`, the correction of an error; `decision`, that of a person; `time`, only time.',
);

/** A version that does not run yet. */
export const UPDATE = {
  ...object(
    {
      version: stringOrNull('The version; null where it is not known.'),
      digest: stringOrNull('Its digest; null for a directory that is not in the module store.'),
      reason: string('One word, such as NeedsApproval.'),
      message: string('Why, for people.'),
      since: time('Since when, with this reason.'),
      until: time('When it may go on by itself; absent where no time ends it.'),
      needs: NEEDS,
      remedy: string('What a person does about it; absent where nothing has to be done.'),
      isFirst: flag('No version of the module runs yet; absent for an update.'),
    },
    'A version that does not run yet; absent without any.',
  ),
  required: ['version', 'digest', 'reason', 'message', 'since', 'needs'],
};

/** The same in lists. */
export const UPDATE_OF_ROW = {
  ...object(
    {
      version: stringOrNull('The version; null where it is not known.'),
      reason: string('Why it does not run yet, in one word.'),
      needs: NEEDS,
      until: time('When it may go on by itself.'),
    },
    'A version that does not run yet.',
  ),
  required: ['version', 'reason', 'needs'],
};

const VERSION = {
  version: string('The version.'),
  digest: string('Of its manifest.'),
  at: time('When that was.'),
};

const DELIVERY_PROPERTIES = {
  source: stringOrNull('Name of its ModuleSource; null for a module whose ModuleInstall is gone.'),
  installed: orNull(object(VERSION), 'The version that is installed.'),
  lastGood: orNull(object(VERSION), 'The last version that passed its gates.'),
  wanted: orNull(
    object({ version: stringOrNull('The version.'), digest: stringOrNull('Of its manifest.') }),
    'What the ModuleInstall wants, as far as its source was read.',
  ),
  failed: list(
    object({ ...VERSION, why: string('Why it failed.') }),
    'Versions that are not tried again without approval, the newest last.',
  ),
  isUpdating: flag('An update is in progress, until its last gate has passed.'),
  waitsFor: stringOrNull('What the gates of the installed version wait for.'),
  invalid: stringOrNull('What is wrong with the ModuleInstall.'),
  missing: stringOrNull('Why the files of the installed version are nowhere.'),
  problem: stringOrNull('Why the last step failed.'),
  sourceProblem: stringOrNull('Why its source cannot be used.'),
};

/** Of a module. */
export const MODULE_DELIVERY = object(
  DELIVERY_PROPERTIES,
  'What its source delivered; absent for a module of a plain directory.',
);

/** `/delivery` */
export const DELIVERY: ResponseSchema = object({
  sources: list(
    object({
      name: string('Name of the ModuleSource.'),
      url: stringOrNull('Where it is; null while its spec is invalid.'),
      invalid: stringOrNull('What is wrong with its spec.'),
      problem: stringOrNull('Why it could not be read the last time.'),
      lastSuccessAt: timeOrNull('When it was read last.'),
      lastAttemptAt: timeOrNull('When that was tried last.'),
      modules: count('How many modules come from it.'),
    }),
    'All ModuleSources.',
  ),
  modules: list(
    object({
      module: string('Its name.'),
      ...DELIVERY_PROPERTIES,
      update: orNull(UPDATE, 'A version that does not run yet.'),
    }),
    'All modules that come from sources, also those that are not installed yet.',
  ),
});
