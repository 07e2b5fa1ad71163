import { isObject } from '@addon-operator/json';

/** Shorter strings occur in too many places that have nothing to do with a secret. */
const SHORTEST = 4;
/** Lines of a secret of several lines are also masked one by one. */
const SHORTEST_LINE = 8;
/** Holds the object as it was applied, with its data. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A text that is looked for, and what takes its place. */
interface Form {
  readonly text: string;
  readonly mask: string;
}

/**
 * Replaces secrets by `***1`, `***2` and so on: the same secret by the same mask, as long as the masks are in use, so that equal
 * strings stay equal. What is base64 becomes the base64 of the mask, so that a hook that decodes it still works.
 */
export class SecretMasks {
  readonly #masks = new Map<string, string>();
  /** By their first characters, the longest first. */
  readonly #forms = new Map<string, Form[]>();

  /** This text is a secret from now on. */
  add(secret: string): void {
    if (secret.trim().length >= SHORTEST) this.#maskOf(secret);
  }

  /** The data of each Secret in the value are secrets from now on; `isSecret` says whose objects are left out of the value. */
  learn(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.learn(item);
    if (!isObject(value)) return;
    if (value['kind'] === 'Secret') {
      for (const data of Object.values(mapIn(value, 'data')))
        if (typeof data === 'string') this.add(decoded(data));
      for (const text of Object.values(mapIn(value, 'stringData')))
        if (typeof text === 'string') this.add(text);
    }
    for (const item of Object.values(value)) this.learn(item);
  }

  /** All strings of a value are secrets, such as what a filter kept of a Secret. */
  hidden(value: unknown): unknown {
    if (typeof value === 'string') return value === '' ? value : this.#maskOf(value);
    if (Array.isArray(value)) return value.map((item) => this.hidden(item));
    return isObject(value) ? mapped(value, (item) => this.hidden(item)) : value;
  }

  /** The text with masks in place of secrets. */
  text(text: string): string {
    let masked = '';
    let done = 0;
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      const form = this.#forms
        .get(text.slice(at, at + SHORTEST))
        ?.find((each) => text.startsWith(each.text, at));
      if (form === undefined) continue;
      masked += text.slice(done, at) + form.mask;
      done = at + form.text.length;
      at = done - 1;
    }
    return done === 0 ? text : masked + text.slice(done);
  }

  /** The value with masks in all its strings and keys, and in all data of Secrets. */
  data(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.data(item));
    if (!isObject(value)) return value;
    return value['kind'] === 'Secret' ? this.#secret(value) : mapped(value, (item) => this.data(item), this);
  }

  #secret(object: Readonly<Record<string, unknown>>): unknown {
    const { data, stringData, metadata, ...rest } = object;
    const annotations = mapIn(mapIn(object, 'metadata'), 'annotations');
    const isApplied = LAST_APPLIED in annotations;
    return {
      ...mapped(rest, (item) => this.data(item), this),
      ...(metadata !== undefined && {
        metadata: this.data(
          isApplied
            ? { ...mapIn(object, 'metadata'), annotations: { ...annotations, [LAST_APPLIED]: '***' } }
            : metadata,
        ),
      }),
      ...(data !== undefined && {
        data: isObject(data)
          ? mapped(data, (item) => (typeof item === 'string' ? this.#encoded(item) : item))
          : this.hidden(data),
      }),
      ...(stringData !== undefined && { stringData: this.hidden(stringData) }),
    };
  }

  #encoded(data: string): string {
    return data === '' ? '' : base64(this.#maskOf(decoded(data)));
  }

  #maskOf(secret: string): string {
    const known = this.#masks.get(secret);
    if (known !== undefined) return known;
    const mask = `***${this.#masks.size + 1}`;
    this.#masks.set(secret, mask);
    for (const form of formsOf(secret, mask)) this.#addForm(form);
    return mask;
  }

  #addForm(form: Form): void {
    if (form.text.length < SHORTEST) return;
    const start = form.text.slice(0, SHORTEST);
    const forms = this.#forms.get(start) ?? [];
    if (forms.some(({ text }) => text === form.text)) return;
    forms.push(form);
    forms.sort((a, b) => b.text.length - a.text.length);
    this.#forms.set(start, forms);
  }
}

function formsOf(secret: string, mask: string): readonly Form[] {
  const trimmed = secret.trim();
  const lines = secret.split('\n').map((line) => line.trim());
  const texts = [secret, trimmed, ...lines.filter((line) => line.length >= SHORTEST_LINE)];
  return [
    ...texts.map((text) => ({ text, mask })),
    ...texts.map((text) => ({ text: JSON.stringify(text).slice(1, -1), mask })),
    { text: encodeURIComponent(secret.toWellFormed()), mask },
    { text: base64(secret), mask: base64(mask) },
    { text: base64(trimmed), mask: base64(mask) },
    // As `echo | base64` makes it.
    { text: base64(`${trimmed}\n`), mask: base64(mask) },
  ];
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The text of data of a Secret; the data themselves if they are no text. */
function decoded(data: string): string {
  const text = Buffer.from(data, 'base64').toString('utf8');
  return base64(text) === data ? text : data;
}

function mapIn(value: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const map = value[key];
  return isObject(map) ? map : {};
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  map: (item: unknown) => unknown,
  keys?: Pick<SecretMasks, 'text'>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys === undefined ? key : keys.text(key), map(item)]),
  );
}
