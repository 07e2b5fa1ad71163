/** The actions that users can request, in the order in which lists have them. `server/api/actions.ts` describes each. */
export const ACTION_NAMES = [
  'reconcile',
  'force-reconcile',
  'abort',
  'pause',
  'resume',
  'rollback',
  'enable',
  'disable',
  'heal-drift',
  'retry',
  'abort-hook',
  'drop-hook',
  'trigger-hook',
  'pause-all',
  'resume-all',
] as const;
export type ActionName = (typeof ACTION_NAMES)[number];
