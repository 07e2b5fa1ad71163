/**
 * Protection against replay: the last serial numbers of each module are kept in a ConfigMap. A manifest with a smaller one
 * than the newest is refused, unless it is among them and an explicit rollback wants it. Without access to the ConfigMap
 * no module is authorized. A deleted record is written again while the operator runs.
 */

import { errorFields, messageOf } from '@addon-operator/base/errors';
import {
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMap,
} from '@addon-operator/kube-client/config-map-object';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { type RetryHost, untilAvailable } from '@addon-operator/kube-client/retry';
import PQueue from 'p-queue';
import type { SerialCheck, SignedManifest } from './keyring.ts';
import { refused } from './module-content.ts';

type Data = Readonly<Record<string, string>>;

/** Where the newest serial numbers are kept. Both methods wait until the API server responds. */
interface SerialStore {
  /** Undefined when there is no record. */
  read(signal: AbortSignal): Promise<Data | undefined>;
  /** `isThere` is false for a record that does not exist, which is created. */
  change(change: (data: Data, isThere: boolean) => Data, signal: AbortSignal): Promise<void>;
}

/** A manifest that was authorized. */
type Seen = Pick<SignedManifest, 'serial' | 'digest'>;

/** The record of one module. */
interface Entry {
  /** The newest first, with different numbers. Undefined if it cannot be parsed: then nothing runs. */
  readonly seen: readonly Seen[] | undefined;
  /** The older one that was let in on request, and runs until a newer one does. */
  readonly returned: Seen | undefined;
}

/** How many manifests of a module are remembered. All modules share a ConfigMap of 1 MiB. */
const MAX_SEEN = 20;

/** Remembers the newest manifests of each module that were authorized, outside of the daemon, so that it outlives it. */
export class SeenSerials implements SerialCheck {
  readonly #store: SerialStore;
  readonly #lock = new PQueue({ concurrency: 1 });
  #seen: Data | undefined;

  constructor(store: SerialStore) {
    this.#store = store;
  }

  async check(module: string, manifest: SignedManifest, signal: AbortSignal): Promise<void> {
    await this.#lock.add(async () => {
      this.#seen ??= (await this.#store.read(signal)) ?? {};
      if (!(await this.#isNew(this.#seen, module, manifest, signal))) return;
      let written: Data = {};
      await this.#store.change((current, isThere) => {
        const data = isThere ? current : { ...this.#readable(), ...current };
        // Another daemon may have seen a newer one in the meantime.
        const entry = nextEntry(data, module, manifest);
        written = entry === undefined ? data : { ...data, [module]: entry };
        return written;
      }, signal);
      // A key that was removed from the record stays known until the operator starts again.
      this.#seen = { ...this.#seen, ...written };
    });
  }

  async #isNew(seen: Data, module: string, manifest: SignedManifest, signal: AbortSignal): Promise<boolean> {
    try {
      return nextEntry(seen, module, manifest) !== undefined;
    } catch {
      // Another daemon may have let it return.
      this.#seen = { ...this.#readable(), ...(await this.#store.read(signal)) };
      return nextEntry(this.#seen, module, manifest) !== undefined;
    }
  }

  /**
   * Writes a record that was deleted again, as far as it is known. Otherwise the next start would accept old signatures.
   * A record that exists is not changed: removing a key from it is how a user goes back to older files.
   *
   * @returns whether the record was gone
   */
  async restore(signal: AbortSignal): Promise<boolean> {
    return await this.#lock.add(async () => {
      const known = this.#readable();
      if (Object.keys(known).length === 0 || (await this.#store.read(signal)) !== undefined) return false;
      await this.#store.change((data, isThere) => (isThere ? data : known), signal);
      return true;
    });
  }

  /** The remembered entries, without those that a user has to correct first. */
  #readable(): Data {
    const entries = Object.entries(this.#seen ?? {});
    return Object.fromEntries(entries.filter(([, content]) => parse(content).seen !== undefined));
  }
}

/**
 * The record of a module with a manifest that runs from now on; undefined if it stays.
 *
 * @throws OperatorError MODULE_UNAUTHORIZED when a newer one was seen, or another one with the same number
 */
function nextEntry(
  data: Data,
  module: string,
  { serial, digest, isReturn = false }: SignedManifest,
): string | undefined {
  if (!Object.hasOwn(data, module)) return format([{ serial, digest }], undefined);
  const { seen, returned } = parse(data[module] ?? '');
  const newest = seen?.[0];
  if (seen === undefined || newest === undefined)
    throw refused(
      'the record of its last serial number cannot be read: correct or remove the key of the module in the ConfigMap of serial numbers, then start the operator again',
    );
  if (serial > newest.serial) return format([{ serial, digest }, ...seen].slice(0, MAX_SEEN), undefined);
  const known = seen.find((one) => one.serial === serial && one.digest === digest);
  if (known !== undefined && (known === newest || known === returned || isReturn)) {
    const next = known === newest ? undefined : known;
    return next === returned ? undefined : format(seen, next);
  }
  if (serial < newest.serial)
    throw refused(
      `its manifest has serial number ${serial}, but number ${newest.serial} has already run: to go back to this content, sign it again; a module from a source goes back with "module rollback"`,
    );
  throw refused(`different content was signed with the same serial number ${serial}: sign it again`);
}

/** Such as `7 DIGEST *6 DIGEST`, where the second one is what runs. */
function format(seen: readonly Seen[], returned: Seen | undefined): string {
  return seen.map((one) => `${one === returned ? '*' : ''}${one.serial} ${one.digest}`).join(' ');
}

const SEEN = /^(?:\*?\d+ \S+(?: |$))+$/u;
const ONE_SEEN = /(?<mark>\*?)(?<serial>\d+) (?<digest>\S+)/gu;

/** An entry that cannot be parsed must not let an old signature in. */
function parse(content: string): Entry {
  if (!SEEN.test(content)) return { seen: undefined, returned: undefined };
  const found = [...content.matchAll(ONE_SEEN)].map(({ groups = {} }) => ({
    isReturned: groups['mark'] === '*',
    one: { serial: Number(groups['serial']), digest: groups['digest'] ?? '' },
  }));
  return { seen: found.map(({ one }) => one), returned: found.find(({ isReturned }) => isReturned)?.one };
}

/** How long an old signature could come back by a restart after the record was deleted. */
const CHECK_MS = 5_000;

interface SerialStoreOptions {
  readonly kube: KubeClient;
  readonly ref: ConfigMapRef;
  readonly host: RetryHost;
  /** Set by commands that write nothing. */
  readonly isReadOnly: boolean;
  readonly stop: AbortSignal;
}

/**
 * Keeps the newest serial number of each module in a ConfigMap, and waits for an API server that is away. One that does
 * not accept them is no reason to wait: without the numbers old signatures cannot be distinguished from new ones, so no module may run.
 */
export function serialStore({ kube, ref, host, isReadOnly, stop }: SerialStoreOptions): SerialStore {
  const repeated = <T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    untilAvailable(
      'serial numbers of signatures',
      () => refuseDenied(request, ref.name),
      host,
      AbortSignal.any([stop, signal]),
    );
  return {
    read: (signal) => repeated(async () => (await readConfigMap(kube, ref, signal))?.data, signal),
    change: (change, signal) =>
      isReadOnly ? Promise.resolve() : repeated(() => changeConfigMapData(kube, ref, change, signal), signal),
  };
}

/** Looks for the record until the signal aborts, and has it written again when it was deleted. */
export async function keepSerials(
  serials: Pick<SeenSerials, 'restore'>,
  configMap: string,
  { clock, log }: Pick<RetryHost, 'clock' | 'log'>,
  stop: AbortSignal,
): Promise<void> {
  let reported = '';
  while (!stop.aborted) {
    try {
      await clock.sleep(CHECK_MS, stop);
      if (await serials.restore(stop))
        log.warn(
          { configMap },
          'the ConfigMap with the serial numbers of signatures was deleted; writing it again',
        );
      reported = '';
    } catch (error) {
      if (stop.aborted) return;
      const message = messageOf(error);
      if (message !== reported)
        log.warn({ configMap, ...errorFields(error) }, 'serial numbers of signatures may be lost');
      reported = message;
    }
  }
}

async function refuseDenied<T>(request: () => Promise<T>, configMap: string): Promise<T> {
  try {
    return await request();
  } catch (cause) {
    const problem = `cannot store the serial numbers of signatures: ${messageOf(cause)}`;
    if (hasStatus(cause, 403))
      throw refused(`${problem}; allow get, create and update of ConfigMap ${configMap}`, cause);
    // Such as a name of a module that cannot be a key: the next try would end the same way.
    if (hasStatus(cause, 422)) throw refused(problem, cause);
    throw cause;
  }
}
