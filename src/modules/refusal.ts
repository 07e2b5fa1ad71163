import type { Refusal } from './module.ts';

type Messages = Readonly<Record<Refusal['type'], string>>;

/** Logged once when a module is refused. */
export const REFUSED_MESSAGES: Messages = {
  unauthorized: 'Module is not authorized and does not run',
  gone: 'Files of the module are gone: it is held, and does not run',
  invalid: 'A file of the module cannot be used: it is held, and does not run',
};

/** Logged for each task of it. */
export const SKIPPED_MESSAGES: Messages = {
  unauthorized: 'Module is not authorized, its task is skipped',
  gone: 'Files of the module are gone, its task is skipped',
  invalid: 'A file of the module cannot be used, its task is skipped',
};
