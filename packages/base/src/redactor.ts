import { isObject } from '@addon-operator/json';
import { hideCutSecrets } from './cut-secrets.ts';
import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from './errors.ts';
import { escapeControls, oneLine } from './escape-controls.ts';

const HIDDEN = '***';
/** Shorter strings occur in too many places that have nothing to do with the secret. */
const SHORTEST = 4;
/** Lines of a secret of several lines, such as a key, are also hidden one by one: output is logged line by line. */
const SHORTEST_LINE = 8;
const MAX_SECRETS = 1_000;

/** Masks secrets in everything that users can read. Former secrets stay masked, because old logs are still read. */
export class Redactor {
  readonly #forms = new Map<string, readonly string[]>();
  #sorted: readonly string[] = [];

  /**
   * From now on this text is hidden, as it is, in JSON, in base64, in URLs, in one line, and line by line. Beyond 1000 texts the one that was
   * added, or added again, longest ago is forgotten.
   */
  add(secret: string): void {
    if (secret.trim().length < SHORTEST) return;
    const known = this.#forms.get(secret);
    if (known !== undefined) {
      this.#forms.delete(secret);
      this.#forms.set(secret, known);
      return;
    }
    const [oldest] = this.#forms.keys();
    if (this.#forms.size >= MAX_SECRETS && oldest !== undefined) this.#forms.delete(oldest);
    this.#forms.set(secret, formsOf(secret));
    // Longest first: what contains another one goes as a whole.
    this.#sorted = [...new Set([...this.#forms.values()].flat())].toSorted((a, b) => b.length - a.length);
  }

  /** The texts that are hidden. */
  get secrets(): readonly string[] {
    return [...this.#forms.keys()];
  }

  /** Whether there is nothing to hide. */
  get isEmpty(): boolean {
    return this.#sorted.length === 0;
  }

  /** The text with `***` in place of each secret, and of what a cut has left of one. */
  text(text: string): string {
    if (this.isEmpty) return text;
    const whole = this.#sorted.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    return hideCutSecrets(whole, this.#sorted, { hidden: HIDDEN, shortest: SHORTEST });
  }

  /** The same for all texts and keys in plain data; the value itself when there is nothing to hide. */
  data(value: unknown): unknown {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item: unknown) => this.data(item));
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.data(item)]));
  }
}

function formsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').map((line) => line.trim());
  const texts = [secret, secret.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)];
  const base64 = Buffer.from(secret).toString('base64');
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [
    ...texts,
    ...texts.map((text) => JSON.stringify(text).slice(1, -1)),
    // As queues and tables show what failed.
    ...texts.map(escapeControls),
    oneLine(secret),
    base64,
    inUrl,
  ];
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The error itself, or, if its message contains a secret, an error with the same meaning and a masked message. */
export function redactedError(error: unknown, redactor: Pick<Redactor, 'text'>): unknown {
  const message = messageOf(error);
  const redacted = redactor.text(message);
  if (redacted === message) return error;
  return new OperatorError(error instanceof OperatorError ? error.code : 'INTERNAL', redacted, {
    facts: factsOf(error),
    isPermanent: isPermanent(error),
    retryAfterMs: retryAfterOf(error),
  });
}
