import { type Answer, errorAnswer, textAnswer } from '@addon-operator/http-server/answer';

/** What became of the request to take over a release that another helm has left locked. */
export type UnlockOutcome =
  | { readonly type: 'absent' }
  | { readonly type: 'busy' | 'not-locked' | 'unlocked'; readonly state: string };

/** What a person decides about helm releases. */
export interface ReleaseCommands {
  /**
   * Removes the releases without a module that wait for it; returns their names.
   *
   * @throws what the API client throws
   */
  confirmPurge(signal: AbortSignal): Promise<readonly string[]>;
  /** Takes over a release, and runs what waits for it. @throws what the API client throws */
  unlock(release: string, signal: AbortSignal): Promise<UnlockOutcome>;
}

/** Removes the releases of modules whose directories are gone. */
export async function confirmPurgeAnswer(releases: ReleaseCommands, signal: AbortSignal): Promise<Answer> {
  const names = await releases.confirmPurge(signal);
  if (names.length === 0) return errorAnswer(404, 'REQUEST_REFUSED', 'no release waits for confirmation');
  return textAnswer(`removing the releases of modules without a directory: ${names.join(', ')}\n`);
}

/** Takes over the release of a module; the directory of the module may be gone. */
export async function releaseUnlockAnswer(
  releases: ReleaseCommands,
  release: string,
  signal: AbortSignal,
): Promise<Answer> {
  const outcome = await releases.unlock(release, signal);
  switch (outcome.type) {
    case 'absent':
      return errorAnswer(404, 'REQUEST_REFUSED', `there is no release ${release}`);
    case 'busy':
      return errorAnswer(
        409,
        'REQUEST_REFUSED',
        `release ${release} is ${outcome.state}: this operator is running helm on it; stop that with "module abort ${release}"`,
      );
    case 'not-locked':
      return errorAnswer(
        409,
        'REQUEST_REFUSED',
        `release ${release} is ${outcome.state}: it is not locked by another helm process`,
      );
    case 'unlocked':
      return textAnswer(`release ${release} is ${outcome.state}: taking it over now\n`);
  }
}
