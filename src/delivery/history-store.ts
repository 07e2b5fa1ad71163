/**
 * The versions that each module ran with, and the section of the ConfigMap at their last good run: one Secret for each module,
 * since sections may hold what only Secrets should.
 */

import { isObject, parseJson } from '@addon-operator/json';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { HistoryEntry } from './history.ts';
import { type SecretData, SecretStore } from './secrets.ts';

const HISTORY_LABEL = 'addon-operator.io/module-history';
const ENTRIES = 'entries';
const MAX_ENTRIES = 10;
/** Of the section of one version; a longer one is not kept. */
const MAX_SECTION_BYTES = 64 * 1_024;

/** Keeps histories in the cluster. Methods throw OperatorError KUBE_API and KUBE_UNREACHABLE. */
export class HistoryStore {
  readonly #secrets: SecretStore;
  readonly #prefix: string;
  readonly #known = new Map<string, SecretData>();
  /** Read from each data once: statuses are made of them all the time. */
  readonly #parsed = new WeakMap<SecretData, readonly HistoryEntry[]>();

  /** @param prefix of the names of the Secrets */
  constructor(kube: KubeClient, namespace: string, prefix: string) {
    this.#secrets = new SecretStore(kube, namespace, HISTORY_LABEL);
    this.#prefix = prefix;
  }

  /** Reads the histories of all modules. */
  async load(signal: AbortSignal): Promise<void> {
    const found = await this.#secrets.list(signal);
    this.#known.clear();
    for (const [name, data] of found)
      if (name.startsWith(this.#nameOf(''))) this.#known.set(name.slice(this.#nameOf('').length), data);
  }

  /** The newest first. */
  entries(module: string): readonly HistoryEntry[] {
    const data = this.#known.get(module);
    if (data === undefined) return [];
    const entries = this.#parsed.get(data) ?? entriesOf(data);
    this.#parsed.set(data, entries);
    return entries;
  }

  /** The section of the ConfigMap at the last good run of a version; undefined if it was not kept. */
  section(module: string, digest: string): string | undefined {
    const content = this.#known.get(module)?.[keyOf(digest)];
    return content === undefined ? undefined : Buffer.from(content).toString();
  }

  /** A version begins to run; what ran before has the outcome. */
  async begin(
    module: string,
    entry: Pick<HistoryEntry, 'version' | 'digest' | 'atMs'>,
    before: Pick<HistoryEntry, 'outcome' | 'reason'>,
    signal: AbortSignal,
  ): Promise<void> {
    const [newest, ...older] = this.entries(module);
    const ended =
      newest === undefined ? [] : [{ ...newest, ...(newest.outcome === 'running' ? before : {}) }, ...older];
    const hasValues = this.section(module, entry.digest) !== undefined;
    await this.#write(module, [{ ...entry, outcome: 'running', hasValues }, ...ended], {}, signal);
  }

  /** The version that runs has a good run with this section of the ConfigMap. */
  async keepSection(module: string, section: string | undefined, signal: AbortSignal): Promise<void> {
    const [newest, ...older] = this.entries(module);
    const bytes = Buffer.from(section ?? '');
    if (newest === undefined || bytes.length > MAX_SECTION_BYTES) return;
    if (newest.hasValues && this.section(module, newest.digest) === bytes.toString()) return;
    await this.#write(
      module,
      [{ ...newest, hasValues: true }, ...older],
      { [keyOf(newest.digest)]: bytes },
      signal,
    );
  }

  /** The module was removed. */
  async remove(module: string, signal: AbortSignal): Promise<void> {
    await this.#secrets.remove(this.#nameOf(module), signal);
    this.#known.delete(module);
  }

  async #write(
    module: string,
    all: readonly HistoryEntry[],
    added: SecretData,
    signal: AbortSignal,
  ): Promise<void> {
    const entries = all.slice(0, MAX_ENTRIES);
    const kept = new Set(entries.map(({ digest }) => keyOf(digest)));
    const sections = Object.entries({ ...this.#known.get(module), ...added }).filter(([key]) =>
      kept.has(key),
    );
    const data = { ...Object.fromEntries(sections), [ENTRIES]: Buffer.from(JSON.stringify(entries)) };
    await this.#secrets.write(this.#nameOf(module), data, signal);
    this.#known.set(module, data);
  }

  #nameOf(module: string): string {
    return `${this.#prefix}-history-${module}`;
  }
}

function entriesOf(data: SecretData): readonly HistoryEntry[] {
  const parsed = parseJson(Buffer.from(data[ENTRIES] ?? '[]').toString());
  return Array.isArray(parsed) ? parsed.filter((entry): entry is HistoryEntry => isObject(entry)) : [];
}

/** Keys of Secrets have no colon. */
function keyOf(digest: string): string {
  return digest.replace(':', '-');
}
