/** Ends a hook with an exit code other than 1. */
export class HookExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, stderr = '') {
    super(stderr);
    this.exitCode = exitCode;
  }
}

/** The exit code of a hook that threw. */
export function exitCodeOf(thrown: unknown): number {
  return thrown instanceof HookExit ? thrown.exitCode : 1;
}
