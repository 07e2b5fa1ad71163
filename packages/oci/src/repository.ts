/** A reference to content of a repository (OCI image spec, "descriptor"). */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly artifactType?: string;
  /** Of a manifest in an index, in the words of Go: `linux`, `amd64`. */
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A manifest or an index, as it was pushed. */
export interface FetchedManifest {
  readonly descriptor: Descriptor;
  /** At most 4 MiB; their digest is that of the descriptor. */
  readonly bytes: Uint8Array;
}

/**
 * One repository of a registry or of an image layout directory, to read from. Everything but
 * `resolve` and `tags` goes by digest, and is compared with it. All methods throw OperatorError:
 * `REGISTRY_UNREACHABLE` (with `retryAfterMs` where the registry asks to wait), `REGISTRY_REFUSED`
 * for 401 and 403, `REGISTRY_NOT_FOUND`, and `ARTIFACT_INVALID` for content that is not what the
 * digest says or exceeds a limit.
 */
export interface Repository {
  /** For messages, without credentials: `oci://registry.example.com/platform/web`. */
  readonly url: string;
  /** The manifest that a tag or a digest names; undefined if there is none. */
  resolve(reference: string, signal: AbortSignal): Promise<Descriptor | undefined>;
  manifest(digest: string, signal: AbortSignal): Promise<FetchedManifest>;
  /** Chunks of a blob. After a cut connection it is resumed; other bytes than the digest's end it with an error. */
  blob(descriptor: Descriptor, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** All tags, in the order of the registry. */
  tags(signal: AbortSignal): Promise<readonly string[]>;
  /** Manifests whose `subject` is the digest: from the referrers API, else from the tag `sha256-<hex>`. */
  referrers(digest: string, signal: AbortSignal): Promise<readonly Descriptor[]>;
}

/** Content of a blob that is pushed. */
export interface BlobContent extends Descriptor {
  /** The bytes, from the start; called again after a failed attempt. */
  open(): AsyncIterable<Uint8Array>;
}

/** A repository that can be written to. Content that it has already is not sent again. */
export interface WritableRepository extends Repository {
  /**
   * Creates what the first push needs, if it is not there yet.
   *
   * @throws OperatorError REQUEST_REFUSED for a directory with other files
   */
  prepare(): Promise<void>;
  /** @returns whether bytes were sent */
  pushBlob(blob: BlobContent, signal: AbortSignal): Promise<boolean>;
  /**
   * Pushes a manifest, whose blobs are there already, and names it.
   *
   * @param reference a tag, or the digest of the manifest
   * @returns whether bytes were sent
   */
  pushManifest(manifest: FetchedManifest, reference: string, signal: AbortSignal): Promise<boolean>;
}
