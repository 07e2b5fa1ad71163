/**
 * Debug requests with which a person confirms what the operator does not decide by itself: purge releases whose modules
 * are gone, accept missing files, take over a release that another helm left locked.
 */

import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';

/** The outcome of a request to take over a release that another helm has left locked. */
export type UnlockOutcome =
  | { readonly type: 'absent' }
  | { readonly type: 'busy' | 'not-locked' | 'unlocked'; readonly state: string };

/** Decisions about helm releases that need a person. */
export interface ReleaseCommands {
  /**
   * Removes the releases without a module that wait for it; returns their names.
   *
   * @throws what the API client throws
   */
  confirmPurge(signal: AbortSignal): Promise<readonly string[]>;
  /** Takes the files that a module has now for all that it is meant to have. Returns why not; undefined when it is done. */
  confirmFiles(module: string): Promise<string | undefined>;
  /** Takes over a release, and runs what waits for it. @throws what the API client throws */
  unlock(release: string, signal: AbortSignal): Promise<UnlockOutcome>;
}

/** Removes the releases of modules whose directories are gone. */
export async function confirmPurgeResponse(
  releases: ReleaseCommands,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const names = await releases.confirmPurge(signal);
  // A script that confirms nothing should notice it.
  if (names.length === 0) return errorResponse(404, 'REQUEST_REFUSED', 'no release waits for confirmation');
  return textResponse(`removing the releases of modules without a directory: ${names.join(', ')}\n`);
}

/** Lets a module run without files that are missing. */
export async function confirmFilesResponse(
  releases: ReleaseCommands,
  module: string,
): Promise<RouteResponse> {
  const problem = await releases.confirmFiles(module);
  return problem === undefined
    ? textResponse(`module ${module} is run with the files that it has now\n`)
    : errorResponse(409, 'REQUEST_REFUSED', problem);
}

/** Takes over the release of a module; the directory of the module may be gone. */
export async function releaseUnlockResponse(
  releases: ReleaseCommands,
  release: string,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const outcome = await releases.unlock(release, signal);
  switch (outcome.type) {
    case 'absent':
      return errorResponse(404, 'REQUEST_REFUSED', `there is no release ${release}`);
    case 'busy':
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        `release ${release} is ${outcome.state}: this operator is running helm on it; stop that with "module abort ${release}"`,
      );
    case 'not-locked':
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        `release ${release} is ${outcome.state}: it is not locked by another helm process`,
      );
    case 'unlocked':
      return textResponse(`release ${release} is ${outcome.state}: taking it over now\n`);
  }
}
