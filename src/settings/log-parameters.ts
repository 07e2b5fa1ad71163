/** Runtime parameters of the log: they are changed with `config set` while the daemon runs. */

import type { LogLevel, RootLogger } from '@addon-operator/logging/json-logger';
import { LOG_LEVELS } from './log-settings.ts';
import type { RuntimeParameter } from './runtime-parameters.ts';
import { booleanType } from './setting-type.ts';

const DEBUG_HOLDS_MS = 30 * 60_000;

/** The runtime parameter `log.level`; `debug` lasts 30 minutes, so that a forgotten one does not fill the logs. */
export function logLevelParameter(log: RootLogger): RuntimeParameter {
  const startLevel = log.level;
  return {
    name: 'log.level',
    description: 'Global log level. Default duration for debug level is 30m',
    default: startLevel,
    validate: (value) => void levelOf(value),
    apply: (value) => log.setLevel(levelOf(value)),
    // Only `debug` expires, and only where the operator was not started with it.
    holdsMs: (value) => (levelOf(value) === 'debug' && startLevel !== 'debug' ? DEBUG_HOLDS_MS : undefined),
  };
}

function levelOf(value: string): LogLevel {
  const level = LOG_LEVELS.find((word) => word === value.toLowerCase());
  if (level === undefined)
    throw new Error(`unknown log level "${value}", use one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Whether changes of the ConfigMap are logged; the runtime parameter `log.configmap.events` switches it. */
export class ConfigMapEventLog {
  #isOn = false;

  get isOn(): boolean {
    return this.#isOn;
  }

  get parameter(): RuntimeParameter {
    return {
      name: 'log.configmap.events',
      description: 'Set to true to log every event of the ConfigMap with the whole object',
      default: 'false',
      validate: (value) => void isYes(value),
      apply: (value) => {
        this.#isOn = isYes(value);
      },
    };
  }
}

function isYes(value: string): boolean {
  const parsed = booleanType.parse(value);
  if (parsed === undefined) throw new Error(`"${value}" is not a boolean, use true or false`);
  return parsed;
}
