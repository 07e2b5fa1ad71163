import { messageOf } from '@addon-operator/base/errors';

/** Why a socket cannot be used: of a path that is too long the system only says that an argument is invalid. */
export function socketErrorText(error: unknown): string {
  const isTooLong = error instanceof Error && 'code' in error && error.code === 'EINVAL';
  return isTooLong
    ? 'its path exceeds the maximum length for sockets (107 bytes, on macOS 103): choose a shorter one'
    : messageOf(error);
}
