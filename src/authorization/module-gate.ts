/** Whether a module may be looked at. */
type Admission =
  /** At this path, which may be that of a copy. */
  | { readonly type: 'admitted'; readonly path: string }
  /** Nothing in its directory is executed or read, not even its values. */
  | { readonly type: 'refused'; readonly reason: string };

/** Called for each module before anything in its directory is used. */
export interface ModuleGate {
  /**
   * @param source the directory of the module
   * @param isReturn whether an explicit rollback wants this version. Default false.
   */
  admit(name: string, source: string, isReturn?: boolean): Promise<Admission>;
}
