import { isDeepStrictEqual } from 'node:util';
import type { ServingCertificate, WebhookCertificates } from './webhook-certificates.ts';

/** Holds the certificate in force and tells of changes. */
export class CertificateSlot implements WebhookCertificates {
  #current: ServingCertificate;
  readonly #listeners = new Set<(certificate: ServingCertificate) => void>();

  constructor(initial: ServingCertificate) {
    this.#current = initial;
  }

  get current(): ServingCertificate {
    return this.#current;
  }

  onChange(listener: (certificate: ServingCertificate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Puts another certificate in force; an equal one changes nothing. Returns whether it was another one. */
  replace(next: ServingCertificate): boolean {
    if (isDeepStrictEqual(next, this.#current)) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener(next);
    return true;
  }
}
