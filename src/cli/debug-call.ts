/** What a debug command asks the daemon; `path` with its query. */
export interface DebugCall {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
}
