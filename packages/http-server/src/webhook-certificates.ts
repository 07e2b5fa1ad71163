import { isDeepStrictEqual } from 'node:util';

/** The certificate of a webhook server, and the authorities by which clients verify it; everything is PEM. */
export interface ServingCertificate {
  /** The certificate, followed by those that lead to the authority if there are any. */
  readonly cert: string;
  readonly key: string;
  /** For `caBundle`: every authority a client is to trust, old ones included while they are replaced. */
  readonly ca: string;
  /** When `cert` expires, in milliseconds since the epoch. */
  readonly expiresMs: number;
}

/** The certificate of webhook servers, which changes while the daemon runs. */
export interface WebhookCertificates {
  /** The one that holds now. */
  readonly current: ServingCertificate;
  /** Calls the listener after each change. Returns what ends that. */
  onChange(listener: (certificate: ServingCertificate) => void): () => void;
}

/** Holds the current certificate and notifies listeners of changes. */
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

  /** Replaces the current certificate; an equal one changes nothing. Returns whether it was another one. */
  replace(next: ServingCertificate): boolean {
    if (isDeepStrictEqual(next, this.#current)) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener(next);
    return true;
  }
}
