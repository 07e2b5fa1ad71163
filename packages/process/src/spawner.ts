import type { ProcessEnd, SpawnRequest } from './launcher-protocol.ts';
import type { OutputStream } from './process-runner.ts';

/** Receives the events of one process; `onEnd` is called last, and once. */
export interface SpawnListener {
  /** `bytes` lie in a buffer that is used again after the call; the process waits while the call lasts. */
  readonly onOutput: (stream: OutputStream, bytes: Buffer) => void;
  /** The process has exited, but something still holds its pipes open. */
  readonly onExit: () => void;
  readonly onEnd: (end: ProcessEnd) => void;
}

/** A process that leads a group of its own. */
export interface SpawnedProcess {
  readonly pid: number;
  /** Sends a signal, by number, to the whole group; a group already gone is fine. */
  signal(signalNumber: number): void;
  /** Closes the pipes of a process that has exited and ends the run. */
  finish(): void;
}

/** A spawn that did not happen; `code` is the name of the errno. */
export class SpawnError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'SpawnError';
    this.code = code;
  }
}

/**
 * Starts `executable` for the request, with stdin from /dev/null. What is left of the group when the run ends is
 * killed. Rejects with SpawnError when the process cannot be started.
 */
export type Spawner = (
  executable: string,
  request: SpawnRequest,
  listener: SpawnListener,
) => Promise<SpawnedProcess> | SpawnedProcess;
