import type { Hold } from './module.ts';

type Messages = Readonly<Record<Hold['type'], string>>;

/** Logged once when a module is refused. */
export const REFUSED_MESSAGES: Messages = {
  unauthorized: 'Module is not authorized and does not run',
  gone: 'Files of the module are gone: it is held, and does not run',
  invalid: 'A file of the module cannot be used: it is held, and does not run',
  cycle: 'The module is part of a cycle of requirements: it is held, and does not run',
  undecided: 'The enabled script of the module failed: it stays as it is until the script succeeds',
};

/** Logged for each skipped task of the module. */
export const SKIPPED_MESSAGES: Messages = {
  unauthorized: 'Module is not authorized, its task is skipped',
  gone: 'Files of the module are gone, its task is skipped',
  invalid: 'A file of the module cannot be used, its task is skipped',
  cycle: 'The module is part of a cycle of requirements, its task is skipped',
  undecided: 'The enabled script of the module fails, its task is skipped',
};
