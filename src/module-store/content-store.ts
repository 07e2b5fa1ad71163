/** A version of a module in the store. */
export interface StoredContent {
  /** Of the manifest in the registry, or of the files of an archive that was added by hand. */
  readonly digest: string;
  readonly module: string;
  readonly version: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly addedAtMs: number;
}

/** The facts of content that is added. */
export type NewContent = Pick<StoredContent, 'digest' | 'module' | 'version'>;

/**
 * Versions of modules by digest, and the links to those that run. Every change is atomic: after a
 * crash at any moment each content is whole or absent, and each link leads to whole content.
 * Methods throw OperatorError `STORE_FAILED`.
 */
export interface ContentStore {
  /** The modules directory with the links, `NNN-name` each. */
  readonly currentDir: string;
  /** Content whose files are all there as they were added. */
  has(digest: string): Promise<boolean>;
  /** The directory with the files of a content. */
  pathOf(digest: string): string;
  /**
   * Adds content once; does nothing if it is there.
   *
   * @param fill writes the files into an empty directory, which is then renamed
   */
  add(content: NewContent, fill: (directory: string) => Promise<void>): Promise<void>;
  list(): Promise<readonly StoredContent[]>;
  /** Digests by the names of their links, such as `030-web`. */
  links(): Promise<ReadonlyMap<string, string>>;
  /** Switches the link of a module with one `rename`. Removes its link of another order afterwards. */
  link(entry: string, digest: string): Promise<void>;
  unlink(entry: string): Promise<void>;
  /**
   * Removes content that is not linked and not in `keep`, and is older than the age.
   *
   * @returns what was removed
   */
  collect(keep: ReadonlySet<string>, olderThanMs: number): Promise<readonly StoredContent[]>;
}
