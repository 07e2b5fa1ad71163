type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Log of a sandbox: each record is a constant message with facts as fields. */
export interface SandboxLog {
  /** A client broke its connection. */
  readonly debug: Write;
  /** The file of the state could not be made smaller, or an object has an effect in a cluster that it does not have here. */
  readonly warn: Write;
  /** A mistake in the sandbox itself. */
  readonly error: Write;
}

const ignore = (): void => undefined;

/** Drops everything. */
export const silentLog: SandboxLog = { debug: ignore, warn: ignore, error: ignore };
