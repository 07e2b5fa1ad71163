/**
 * Watches the Secrets that values refer to, and no others. `secret-parts.ts` says which references count; lookups are
 * served from memory, so a merge of values never waits for the API server. Each resolved string is given to the
 * redactor before any value can reach a log. A Secret that cannot be read is retried with back-off until it can.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf } from '@addon-operator/json';
import { type KubeObject, SECRETS } from '@addon-operator/kube-client/kube-object';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { untilDone } from '@addon-operator/kube-client/retry';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { SecretText } from './resolve-secrets.ts';
import type { SecretReference } from './secret-reference.ts';

interface SecretWatcherDeps {
  readonly reflectors: Pick<SharedReflectors, 'subscribe'>;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Gets each string that a followed reference resolves to, once for each reference, and gives it back when it has another one. */
  readonly redactor: Pick<Redactor, 'add' | 'release'>;
  /** Followed references lead to something else now than before, or to nothing. */
  readonly onChange: (references: readonly SecretReference[]) => void;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
}

type SecretState =
  | { readonly type: 'pending' }
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable'; readonly why: string }
  /** Values are base64 texts. */
  | { readonly type: 'present'; readonly data: Readonly<Record<string, unknown>> };

interface Followed {
  readonly end: AbortController;
  /** By key. */
  readonly references: Map<string, SecretReference>;
  /** Masked strings by key. A string stays masked while the Secret is absent or cannot be read. */
  readonly masked: Map<string, string>;
  state: SecretState;
  /** Settles when the Secret was read for the first time, or could not be. */
  ready: Promise<void>;
}

/** Knows the texts that references lead to, and notices when they change. Only Secrets that are named are read. */
export class SecretWatcher {
  readonly #deps: SecretWatcherDeps;
  readonly #secrets = new Map<string, Followed>();

  constructor(deps: SecretWatcherDeps) {
    this.#deps = deps;
  }

  /**
   * Follows these references, besides those it follows already. Resolves when each Secret was read, or could not be: it
   * is tried again then, after 0.8 s growing to 30 s.
   */
  async follow(references: readonly SecretReference[]): Promise<void> {
    const ready: Promise<void>[] = [];
    for (const reference of references) {
      const title = titleOf(reference);
      let followed = this.#secrets.get(title);
      if (followed === undefined) {
        followed = {
          end: new AbortController(),
          references: new Map(),
          masked: new Map(),
          state: PENDING,
          ready: Promise.resolve(),
        };
        this.#secrets.set(title, followed);
        followed.ready = this.#start(followed, reference);
      }
      ready.push(followed.ready);
      followed.references.set(reference.key, reference);
      this.#mask(followed);
    }
    await Promise.all(ready);
  }

  /** Ceases to follow all but these references. */
  keepOnly(references: readonly SecretReference[]): void {
    const kept = new Set(references.map(titleOf));
    for (const [title, { end, masked }] of this.#secrets) {
      // One watch serves all references to a Secret, so it ends only with the last of them.
      if (kept.has(title)) continue;
      end.abort();
      for (const content of masked.values()) this.#deps.redactor.release(content);
      this.#secrets.delete(title);
    }
  }

  lookup(reference: SecretReference): SecretText {
    const { state } = this.#secrets.get(titleOf(reference)) ?? { state: PENDING };
    return textIn(state, reference.key);
  }

  /** Resolves when the Secret was read or could not be; in the latter case it is tried again until it is. */
  #start(followed: Followed, reference: SecretReference): Promise<void> {
    const { log, stop } = this.#deps;
    const secret = titleOf(reference);
    const signal = AbortSignal.any([stop, followed.end.signal]);
    const tried = Promise.withResolvers<void>();
    let isLogged = false;
    const onFailure = (error: unknown): void => {
      this.#set(followed, { type: 'unreadable', why: messageOf(error) });
      if (!isLogged) log.warn({ secret, error }, 'cannot read a Secret that values refer to, will retry');
      isLogged = true;
      tried.resolve();
    };
    const subscribe = (): Promise<void> => this.#subscribe(followed, reference, signal);
    untilDone(subscribe, onFailure, this.#deps, signal).then(tried.resolve, (error: unknown) => {
      // Retries end only when the signal aborts; anything else is a defect, and must not block the start.
      if (!signal.aborted) log.error({ secret, error }, 'cannot watch a Secret');
      tried.resolve();
    });
    return tried.promise;
  }

  async #subscribe(
    followed: Followed,
    { namespace, name }: SecretReference,
    signal: AbortSignal,
  ): Promise<void> {
    let staged: SecretState = ABSENT;
    const selection = { resource: SECRETS, namespace, fieldSelector: `metadata.name=${name}` };
    const sink = {
      stage: async (objects: readonly KubeObject[]) => {
        for (const object of objects) staged = stateOf(object);
      },
      discard: () => {
        staged = ABSENT;
      },
      commit: () => this.#set(followed, staged),
      apply: async (event: { readonly type: string; readonly object: KubeObject | undefined }) =>
        this.#set(
          followed,
          event.type === 'Deleted' || event.object === undefined ? ABSENT : stateOf(event.object),
        ),
    };
    await this.#deps.reflectors.subscribe(selection, sink, signal);
  }

  #set(followed: Followed, state: SecretState): void {
    const before = followed.state;
    followed.state = state;
    this.#mask(followed);
    if (before.type === 'pending') return;
    const changed = [...followed.references.values()].filter(({ key }) => {
      const [was, is] = [textIn(before, key), textIn(state, key)];
      return was.type !== is.type || (was.type === 'known' && is.type === 'known' && was.text !== is.text);
    });
    if (changed.length > 0) this.#deps.onChange(changed);
  }

  #mask({ state, references, masked }: Followed): void {
    const { redactor } = this.#deps;
    for (const key of references.keys()) {
      const found = textIn(state, key);
      const before = masked.get(key);
      if (found.type !== 'known' || found.text === before) continue;
      redactor.add(found.text);
      masked.set(key, found.text);
      if (before !== undefined) redactor.release(before);
    }
  }
}

const PENDING: SecretState = { type: 'pending' };
const ABSENT: SecretState = { type: 'absent' };

function titleOf({ namespace, name }: SecretReference): string {
  return `${namespace}/${name}`;
}

function stateOf(object: KubeObject): SecretState {
  const data = object['data'];
  return { type: 'present', data: fieldsOf(data) };
}

function textIn(state: SecretState, key: string): SecretText {
  switch (state.type) {
    case 'pending':
      return { type: 'unknown', why: 'it was not read yet' };
    case 'absent':
      return { type: 'absent', why: 'the Secret does not exist: create it, or set optional: true' };
    case 'unreadable':
      return { type: 'unknown', why: `it cannot be read: ${state.why}` };
    case 'present': {
      const value = Object.hasOwn(state.data, key) ? state.data[key] : undefined;
      if (typeof value !== 'string')
        return { type: 'absent', why: 'the Secret has no such key: add it, or set optional: true' };
      try {
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
          Buffer.from(value, 'base64'),
        );
        return { type: 'known', text };
      } catch {
        return { type: 'unknown', why: 'its value is not UTF-8' };
      }
    }
  }
}
