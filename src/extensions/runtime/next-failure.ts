import type { AskFailure } from '../../hooks/in-process/host-protocol.ts';
import { isPermanent, messageOf } from '../../lib/errors.ts';

/** What an extension gets to see of an error of the daemon. */
export function nextFailureOf(error: unknown): AskFailure {
  const code = fieldOf(error, 'code');
  const status = fieldOf(error, 'status');
  return {
    name: error instanceof Error ? error.name : 'Error',
    message: messageOf(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(isPermanent(error) ? { isPermanent: true } : {}),
  };
}

/** A field of an error, or else of what caused it. */
function fieldOf(error: unknown, key: string): unknown {
  for (let each = error; typeof each === 'object' && each !== null; each = causeOf(each)) {
    const value: unknown = Reflect.get(each, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function causeOf(error: object): unknown {
  return error instanceof Error ? error.cause : undefined;
}
