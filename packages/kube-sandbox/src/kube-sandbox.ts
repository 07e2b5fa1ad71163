/**
 * The sandbox as other packages see it. `startSandbox()` opens the state, starts the controllers and listens; requests come in
 * over HTTP or through `handle()`, and responses go out that are those of a Kubernetes API server. A request that the API
 * refuses is a response too. Only the start fails with a {@link SandboxError}: the port is taken, or the directory is in use.
 */

export type { ApiRequest, ApiResponse, BodyResponse, StreamResponse } from './api-request.ts';
export { type DirectoryLock, lockDirectory } from './directory-lock.ts';
export {
  type ObjectChange,
  type Sandbox,
  type SandboxObject,
  type SandboxOptions,
  type SandboxState,
  startSandbox,
} from './sandbox.ts';
export { machineClock, type SandboxClock } from './sandbox-clock.ts';
export { SandboxError } from './sandbox-error.ts';
export { type SandboxLog, silentLog } from './sandbox-log.ts';
