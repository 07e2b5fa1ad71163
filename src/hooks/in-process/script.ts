/** A file that is run in threads. */
export interface Script {
  readonly path: string;
  /** The URL of the module that the thread runs: it loads the file, and knows what to do with it. */
  readonly program: string;
}
