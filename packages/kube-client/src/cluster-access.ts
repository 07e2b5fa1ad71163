/** A value in the configuration itself or in a file, which may be replaced while the daemon runs. */
export type Material =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly path: string };

/** A user entry whose credentials come from a plug-in, as in the kubeconfig (paths made absolute). */
export interface PluginUser {
  readonly name: string;
  readonly exec?: Readonly<Record<string, unknown>>;
  readonly authProvider?: Readonly<Record<string, unknown>>;
}

/** The identity of a request, in addition to a client certificate. */
export type Identity =
  | { readonly type: 'anonymous' }
  | { readonly type: 'token'; readonly token: Material }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'plugin'; readonly user: PluginUser };

/** A kubeconfig by which other programs get the same access: an existing file, or the content of one to write. */
export type KubeconfigSource =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'document'; readonly document: object };

/** Everything needed to talk to one API server. */
export interface ClusterAccess {
  /** URL without a trailing slash, possibly with a path prefix. */
  readonly server: string;
  /** Namespace of the context or of the service account; `default` if there is none. */
  readonly currentNamespace: string;
  /** Where this was read from, for messages: a file path, `in-cluster` or `--kube-server`. */
  readonly source: string;
  readonly tls: {
    readonly isVerified: boolean;
    /** Name to verify the certificate against, where it is not the host of `server`. */
    readonly serverName?: string;
    readonly ca?: Material;
    readonly client?: { readonly cert: Material; readonly key: Material };
  };
  readonly identity: Identity;
}

/** An access, and how other programs get the same one. */
export interface LocatedAccess extends ClusterAccess {
  readonly kubeconfig: KubeconfigSource;
}
