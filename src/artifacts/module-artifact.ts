import type { Descriptor } from '@addon-operator/oci/repository';

/** The forms in which a module can be published; `docs/delivery.md` has their media types. */
export type ArtifactFormat = 'module' | 'helm-chart' | 'flux' | 'deckhouse';

/** Everything that a policy decides on, so that no content is fetched for a version that is not wanted. */
export interface ArtifactFacts {
  /** Of the module. Undefined for a Flux artifact without annotations, and for deckhouse images. */
  readonly name?: string | undefined;
  /** SemVer without `v`, from the config where the format has one, else from the tag. */
  readonly version: string;
  /** `requires` of module.yaml: names of modules and ranges of versions. */
  readonly requires?: Readonly<Record<string, string>> | undefined;
  /** A range of versions of the operator. */
  readonly operator?: string | undefined;
  readonly changelog?: string | undefined;
}

/** A manifest that was recognized as a module; nothing of its content was fetched. */
export interface ModuleArtifact {
  readonly format: ArtifactFormat;
  /** Of the manifest; for a deckhouse index, that of the manifest for this platform. */
  readonly digest: string;
  readonly facts: ArtifactFacts;
  /** In the order in which they are unpacked. */
  readonly layers: readonly Descriptor[];
}

/** Who must have signed a module. All that is set must hold. */
export interface VerificationPolicy {
  /** The content of a keyring for the SSH signature inside the artifact, as `--auth-keyring`. */
  readonly keyring?: string | undefined;
  /** PEM of public keys, one of which must have signed the manifest with cosign. */
  readonly cosignKeys?: readonly string[] | undefined;
}
