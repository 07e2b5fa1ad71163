import { createHash } from 'node:crypto';
import { OperatorError } from '@addon-operator/base/errors';
import type { Descriptor } from './repository.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The hex digits of a digest. @throws OperatorError ARTIFACT_INVALID for any other algorithm or spelling */
export function hexOf(digest: string): string {
  if (!isDigest(digest)) {
    const shown = JSON.stringify(digest.slice(0, 100));
    throw new OperatorError(
      'ARTIFACT_INVALID',
      `${shown} is not a digest: sha256: and 64 hex digits are needed`,
    );
  }
  return digest.slice('sha256:'.length);
}

/** Compares content with its descriptor while it arrives, so that a longer one ends at once. */
export class ContentCheck {
  readonly #descriptor: Descriptor;
  readonly #hash = createHash('sha256');
  #received = 0;

  constructor(descriptor: Descriptor) {
    hexOf(descriptor.digest);
    this.#descriptor = descriptor;
  }

  /** Bytes so far. */
  get received(): number {
    return this.#received;
  }

  /** @param from where the bytes come from, for messages */
  add(chunk: Uint8Array, from: string): void {
    const { digest, size } = this.#descriptor;
    this.#received += chunk.length;
    if (this.#received > size) {
      throw new OperatorError(
        'ARTIFACT_INVALID',
        `${from}: ${digest} is longer than the ${size} bytes of its descriptor`,
      );
    }
    this.#hash.update(chunk);
  }

  /** @throws OperatorError ARTIFACT_INVALID where the content is not that of the descriptor */
  finish(from: string): void {
    const { digest, size } = this.#descriptor;
    if (this.#received !== size) {
      const message = `${from}: ${digest} has ${this.#received} bytes, its descriptor says ${size}`;
      throw new OperatorError('ARTIFACT_INVALID', message);
    }
    const actual = `sha256:${this.#hash.digest('hex')}`;
    if (actual !== digest) {
      throw new OperatorError(
        'ARTIFACT_INVALID',
        `${from}: the content of ${digest} has the digest ${actual}`,
      );
    }
  }
}
