/** What a webhook server shows its clients, and what they check it with; all texts are PEM. */
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
