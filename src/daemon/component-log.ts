import type { Logger } from '../lib/log.ts';
import type { DaemonHost } from './host.ts';

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

/** The logger of one part of the daemon: its records tell their part as `logger`. */
export function componentLog({ log }: Pick<DaemonHost, 'log'>, component: Component): Logger {
  return log.child({ logger: `addon-operator.${component}` });
}
