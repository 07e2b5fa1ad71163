import { isObject, parseJson } from '@addon-operator/json';
import { hideCutSecrets } from './cut-secrets.ts';
import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from './errors.ts';
import { escapeControls, oneLine } from './escape-controls.ts';
import { TextMask } from './text-mask.ts';

const HIDDEN = '***';
/** Shorter strings occur in too many places that have nothing to do with the secret. */
const SHORTEST = 4;
/** Lines of a secret of several lines, such as a key, are also hidden one by one: output is logged line by line. */
const SHORTEST_LINE = 8;
const MAX_SECRETS = 1_000;

/** Masks secrets in everything that users can read. Former secrets stay masked, because old logs are still read. */
export class Redactor {
  readonly #forms = new Map<string, readonly string[]>();
  #revision = 0;
  /** Made of all forms when something is masked for the first time after a change. */
  #masks: Masks | undefined;

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
    this.#revision += 1;
    this.#masks = undefined;
  }

  /** Different after each new secret: what was masked before may contain that, and must not be sent any more. */
  get revision(): number {
    return this.#revision;
  }

  /** The texts that are hidden. */
  get secrets(): readonly string[] {
    return [...this.#forms.keys()];
  }

  /** Whether there is nothing to hide. */
  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  /** The text with `***` in place of each secret, and of what a cut has left of one. */
  text(text: string): string {
    return this.isEmpty ? text : this.#current().strings.hide(text);
  }

  /** The same for all texts and keys in plain data; the value itself when there is nothing to hide. */
  data(value: unknown): unknown {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item: unknown) => this.data(item));
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.data(item)]));
  }

  /** JSON whose strings and keys are masked as `data` does, so that it stays JSON for any secret; the same string if there are none. */
  json(json: string): string {
    // One look at the whole shows that there is nothing to mask in its strings, which is nearly always so.
    if (this.isEmpty || this.#current().json.hide(json) === json) return json;
    return JSON.stringify(this.data(parseJson(json)));
  }

  #current(): Masks {
    this.#masks ??= masksOf([...new Set([...this.#forms.values()].flat())]);
    return this.#masks;
  }
}

interface Masks {
  readonly strings: FormsMask;
  /** Finds in JSON what the other one finds in its strings. */
  readonly json: FormsMask;
}

function masksOf(forms: readonly string[]): Masks {
  return { strings: new FormsMask(forms), json: new FormsMask(forms.map(inJson)) };
}

/** Hides secrets in all their forms, and what cuts have left of them. */
class FormsMask {
  readonly #forms: readonly string[];
  readonly #whole: TextMask;

  constructor(forms: readonly string[]) {
    this.#forms = forms;
    this.#whole = new TextMask(forms, HIDDEN);
  }

  hide(text: string): string {
    return hideCutSecrets(this.#whole.hide(text), this.#forms, { hidden: HIDDEN, shortest: SHORTEST });
  }
}

function formsOf(secret: string): readonly string[] {
  const lines = secret.split('\n').map((line) => line.trim());
  const texts = [secret, secret.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)];
  const base64 = Buffer.from(secret).toString('base64');
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [
    ...texts,
    ...texts.map(inJson),
    // As queues and tables show what failed.
    ...texts.map(escapeControls),
    oneLine(secret),
    base64,
    inUrl,
  ];
}

/** A text as strings of JSON have it. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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
