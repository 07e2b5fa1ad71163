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
