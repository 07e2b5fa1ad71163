import { OperatorError } from '@addon-operator/base/errors';

/** A repository, and what is meant in it. */
export interface ArtifactReference {
  /** `oci://` or `oci-layout://`, without tag and digest. */
  readonly url: string;
  /** A tag or a digest; undefined for the repository as a whole. */
  readonly reference: string | undefined;
}

const DIGEST = /^(?<url>.+)@(?<reference>sha256:[0-9a-f]{64})$/u;
/** The last colon behind the last slash; another one is that of a port. */
const TAGGED = /^(?<url>.+\/[^/:]*):(?<reference>[^/:]+)$/u;

/**
 * Parses `oci://HOST/NAME`, `…:TAG` and `…@sha256:HEX`, and the same for `oci-layout://DIRECTORY`.
 *
 * @throws OperatorError REQUEST_INVALID for anything else
 */
export function parseArtifactReference(text: string): ArtifactReference {
  const scheme = /^(?:oci|oci-layout):\/\//u.exec(text)?.[0];
  const { url = text, reference } = (DIGEST.exec(text) ?? TAGGED.exec(text))?.groups ?? {};
  const hasName =
    scheme === 'oci://' ? /^oci:\/\/[^/@]+\/[^@]+$/u.test(url) : url !== scheme && !url.includes('@');
  if (scheme !== undefined && hasName) return { url, reference };
  throw new OperatorError(
    'REQUEST_INVALID',
    `${JSON.stringify(text)} is not a repository: write oci://HOST/NAME or oci-layout://DIRECTORY, with :TAG or @sha256:HEX for one version`,
  );
}

/** @throws OperatorError REQUEST_INVALID without a tag or a digest */
export function parseVersionReference(text: string): ArtifactReference & { readonly reference: string } {
  const { url, reference } = parseArtifactReference(text);
  if (reference !== undefined) return { url, reference };
  throw new OperatorError('REQUEST_INVALID', `${text} names no version: add :TAG or @sha256:HEX`);
}

/** @throws OperatorError REQUEST_INVALID with a tag or a digest */
export function parseRepository(text: string): string {
  const { url, reference } = parseArtifactReference(text);
  if (reference === undefined) return url;
  throw new OperatorError('REQUEST_INVALID', `${text} names a version, a repository is expected: ${url}`);
}
