import type { Logger } from './log.ts';

export type Component =
  | 'helm'
  | 'hooks'
  | 'jq'
  | 'kube'
  | 'leader'
  | 'modules'
  | 'operator'
  | 'process'
  | 'schedule'
  | 'server'
  | 'values';

/** The logger of one part of the operator: `logger` in its records names the part. */
export function componentLog({ log }: { readonly log: Logger }, component: Component): Logger {
  return log.child({ logger: `addon-operator.${component}` });
}
