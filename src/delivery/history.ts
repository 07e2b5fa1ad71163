/** One version that a module ran with. */
export interface HistoryEntry {
  readonly version: string;
  /** Of the manifest in the registry, or of the files for modules that come from a directory. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly outcome: 'running' | 'replaced' | 'failed' | 'rolled-back';
  /** Why it failed or was replaced. */
  readonly reason?: string;
  /** Whether the section of the ConfigMap was kept, so that `--with-values` is possible. */
  readonly hasValues: boolean;
}
