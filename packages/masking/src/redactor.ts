// Masks secrets in everything that users can read: logs, API responses, statuses, errors. Values marked as
// secret are added when they become known and released when nothing uses them any more; released ones stay
// masked for a while, since old output is still read. `secret-finder.ts` finds them in all their forms. If a
// cut went through a secret, its remains are masked as well.

import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from '@addon-operator/base/errors';
import { isObject, parseJson, stringifyJson } from '@addon-operator/json';
import { setMember } from '@addon-operator/json/set-member';
import { unescaped } from './decoded-text.ts';
import { SecretFinder } from './secret-finder.ts';

const HIDDEN = '***';
/** Released secrets that are still masked. */
const MAX_FORMER = 1_000;

/** Masks secrets in everything that users can read. */
export class Redactor {
  readonly #finder = new SecretFinder();
  /** How many users each secret has that is in use. */
  readonly #uses = new Map<string, number>();
  /** Secrets that are not in use any more, the oldest first. */
  readonly #former = new Set<string>();
  #revision = 0;

  /** From now on this secret is hidden, in all forms that {@link SecretFinder} finds, until it is released. */
  add(secret: string): void {
    this.#uses.set(secret, (this.#uses.get(secret) ?? 0) + 1);
    this.#former.delete(secret);
    if (this.#finder.has(secret)) return;
    this.#finder.add(secret);
    this.#revision += 1;
  }

  /** A user of the secret has another one now, or none. The last 1,000 that have no user stay hidden, because old logs are still read. */
  release(secret: string): void {
    const uses = (this.#uses.get(secret) ?? 0) - 1;
    if (uses > 0) this.#uses.set(secret, uses);
    else {
      this.#uses.delete(secret);
      this.#former.add(secret);
    }
    const [oldest] = this.#former;
    if (this.#former.size <= MAX_FORMER || oldest === undefined) return;
    this.#former.delete(oldest);
    this.#finder.delete(oldest);
  }

  /** Different after each new secret: what was masked before may contain that, and must not be sent any more. */
  get revision(): number {
    return this.#revision;
  }

  /** The finder of the hidden secrets. */
  get finder(): SecretFinder {
    return this.#finder;
  }

  /** Whether there is nothing to hide. */
  get isEmpty(): boolean {
    return this.#finder.size === 0;
  }

  /** The string with `***` in place of each secret, and of each remainder of a secret that was cut. */
  text(text: string): string {
    if (this.isEmpty) return text;
    let [result, done] = ['', 0];
    for (const { start, end } of this.#finder.find(text)) {
      result += text.slice(done, start) + HIDDEN;
      done = end;
    }
    return done === 0 ? text : result + text.slice(done);
  }

  /** The same for all strings and keys in plain data, at any depth; the value itself when there is nothing to hide. */
  data(value: unknown): unknown {
    if (this.isEmpty) return value;
    // A stack instead of recursion: data of hooks may be nested deeper than the call stack allows.
    const left: (readonly [source: object, copy: unknown[] | Record<string, unknown>])[] = [];
    const copyOf = (source: unknown): unknown => {
      if (typeof source === 'string') return this.text(source);
      if (!Array.isArray(source) && !isPlain(source)) return source;
      const copy = Array.isArray(source) ? [] : {};
      left.push([source, copy]);
      return copy;
    };
    const root = copyOf(value);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [source, copy] = next;
      if (Array.isArray(copy)) for (const item of source as unknown[]) copy.push(copyOf(item));
      else for (const [key, item] of Object.entries(source)) setMember(copy, this.text(key), copyOf(item));
    }
    return root;
  }

  /** JSON whose strings and keys are masked as `data` does, so that it stays JSON for any secret; the same string if there are none. */
  json(json: string): string {
    // One look at the whole shows that there is nothing to mask in its strings, which is nearly always so.
    if (this.isEmpty || this.#finder.find(unescaped(json)).length === 0) return json;
    return stringifyJson(this.data(parseJson(json)));
  }
}

/** Objects of classes, such as raw JSON numbers, are passed on as they are. */
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
