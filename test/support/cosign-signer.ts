import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Descriptor } from '@addon-operator/oci/repository';
import type { MemoryRepository } from './oci-memory.ts';

const EMPTY = 'application/vnd.oci.empty.v1+json';
const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** What is at the tag of a signature. */
export interface OldSignature {
  readonly payload: string;
  /** In base64. */
  readonly signature: string;
}

/** Signs as cosign does, with one key. */
export class CosignSigner {
  readonly #key: KeyObject;
  readonly #sign: (message: Buffer) => Buffer;
  /** PEM, as in `cosign.pub`. */
  readonly publicKey: string;

  /** @param hash of the signature; default: SHA-256 for all keys but Ed25519 */
  constructor(pair = generateKeyPairSync('ec', { namedCurve: 'P-256' }), hash?: string, padding?: number) {
    this.#key = pair.privateKey;
    const algorithm = hash ?? (pair.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256');
    this.#sign = (message) =>
      sign(algorithm, message, padding === undefined ? this.#key : { key: this.#key, padding });
    this.publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  /** A bundle with a DSSE envelope about a manifest. */
  bundle(
    digest: string,
    change: {
      readonly predicateType?: string;
      readonly payloadType?: string;
      readonly signed?: (payload: Buffer) => Buffer;
      readonly subject?: unknown;
    } = {},
  ): string {
    const {
      predicateType = 'https://sigstore.dev/cosign/sign/v1',
      payloadType = 'application/vnd.in-toto+json',
      signed = (payload) => payload,
    } = change;
    const subject = change.subject ?? [{ digest: { sha256: digest.slice('sha256:'.length) } }];
    const payload = Buffer.from(
      JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate: {} }),
    );
    const message = Buffer.concat([
      Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
      payload,
    ]);
    return JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: 'x' }, tlogEntries: [] },
      dsseEnvelope: {
        payload: signed(payload).toString('base64'),
        payloadType,
        signatures: [{ sig: this.#sign(message).toString('base64') }],
      },
    });
  }

  /** The older form: a payload that names the manifest, and its signature. */
  oldSignature(
    digest: string,
    change: { readonly payload?: string; readonly says?: string; readonly repository?: string } = {},
  ): OldSignature {
    const identity = change.repository === undefined ? {} : { 'docker-reference': change.repository };
    const payload = JSON.stringify({
      critical: {
        identity,
        image: { 'docker-manifest-digest': change.says ?? digest },
        type: 'cosign container image signature',
      },
    });
    const signature = this.#sign(Buffer.from(payload)).toString('base64');
    return { payload: change.payload ?? payload, signature };
  }

  /** Puts a signature of the older form at its tag. */
  signOld(
    repository: MemoryRepository,
    digest: string,
    change: { readonly payload?: string; readonly says?: string } = {},
  ): Descriptor {
    const { payload, signature } = this.oldSignature(digest, change);
    return repository.putManifest(
      {
        mediaType: OCI_MANIFEST,
        config: repository.put('application/vnd.oci.image.config.v1+json', '{}'),
        layers: [
          repository.put('application/vnd.dev.cosign.simplesigning.v1+json', payload, {
            'dev.cosignproject.cosign/signature': signature,
          }),
        ],
      },
      `${digest.replace(':', '-')}.sig`,
    );
  }
}

/** Attaches content to a manifest, as a bundle of Sigstore is attached. */
export function attach(
  repository: MemoryRepository,
  digest: string,
  ...contents: readonly (Buffer | string)[]
): Descriptor {
  return repository.putManifest({
    mediaType: OCI_MANIFEST,
    config: repository.put(EMPTY, '{}'),
    layers: contents.map((content) =>
      repository.put('application/vnd.dev.sigstore.bundle.v0.3+json', content),
    ),
    subject: { mediaType: OCI_MANIFEST, digest, size: 1 },
  });
}
