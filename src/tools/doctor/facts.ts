/** A release of helm. */
export interface FoundRelease {
  readonly name: string;
  /** Such as `deployed` or `pending-upgrade`. */
  readonly status: string;
}

/** A Secret with a revision of a release. */
export interface ReleaseSecretFacts {
  readonly name: string;
  readonly bytes: number;
}

export interface ClusterFacts {
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly configMap: string;
  readonly serverVersion: string;
  /** The time of the server minus that of this machine; absent when the server does not say. */
  readonly clockSkewMs?: number;
  /** Keys in the ConfigMap that belong to no module. */
  readonly unknownKeys: readonly string[];
  readonly releases: readonly FoundRelease[];
  readonly releaseSecrets: readonly ReleaseSecretFacts[];
  /** Permissions that modules or hooks need and that are missing, such as `list secrets in shop`. */
  readonly missingAccess: readonly string[];
  /** Why the needed permissions are not known. */
  readonly accessProblems: readonly string[];
  /** Why ModuleSources cannot be read. */
  readonly sourceProblems: readonly SourceProblem[];
}

export interface SourceProblem {
  /** Name of the ModuleSource; empty if the documents themselves cannot be read. */
  readonly source: string;
  readonly message: string;
}

/** A directory that the operator writes to. */
export interface DirectoryFacts {
  readonly path: string;
  /** Why no file can be written there; absent when it can. */
  readonly problem?: string;
  readonly isNoexec: boolean;
  readonly freeBytes: number;
}

export interface MachineFacts {
  readonly tmpDir: DirectoryFacts;
  /** Absent without `--module-store`. */
  readonly moduleStore?: DirectoryFacts;
  /** How many files a process may have open; absent where that is not known. */
  readonly maxOpenFiles?: number;
  /** How many files and directories may be watched; absent where that is not known, or nothing is watched. */
  readonly maxWatches?: number;
}

/** The report of a running operator about itself. */
export interface DaemonFacts {
  readonly level: 'well' | 'notice' | 'waiting' | 'broken';
  readonly problems: readonly string[];
}

/** All that checks may know. */
export interface DoctorFacts {
  readonly machine: MachineFacts;
  /** Why the operator cannot start with these settings, directories and this cluster; absent when it can. */
  readonly failure?: { readonly code: string; readonly message: string };
  /** Whether no cluster is configured, and an empty one was looked at. */
  readonly isWithoutCluster?: boolean;
  /** Absent when the cluster could not be looked at. */
  readonly cluster?: ClusterFacts;
  /** Absent when no operator responds. */
  readonly daemon?: DaemonFacts;
}
