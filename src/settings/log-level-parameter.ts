import type { LogLevel, RootLogger } from '../lib/pino-logger.ts';
import { LOG_LEVELS } from '../settings.ts';
import type { RuntimeParameter } from './runtime-parameters.ts';

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
    holdsMs: (value) => (levelOf(value) === 'debug' && startLevel !== 'debug' ? DEBUG_HOLDS_MS : undefined),
  };
}

function levelOf(value: string): LogLevel {
  const level = LOG_LEVELS.find((word) => word === value.toLowerCase());
  if (level === undefined)
    throw new Error(`unknown log level "${value}", use one of ${LOG_LEVELS.join(', ')}`);
  return level;
}
