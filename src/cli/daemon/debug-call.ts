/** The request of a debug command; `path` includes the query. */
export interface DebugCall {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
}
