import { Exclusive } from '../../lib/exclusive.ts';
import type { SerialCheck } from './keyring-policy.ts';
import { refused } from './module-content.ts';

type Data = Readonly<Record<string, string>>;

/** Where the newest serial numbers are kept. Both methods wait until the API server answers. */
export interface SerialStore {
  /** Undefined when there is no record. */
  read(signal: AbortSignal): Promise<Data | undefined>;
  /** `isThere` is false for a record that does not exist, which is created. */
  change(change: (data: Data, isThere: boolean) => Data, signal: AbortSignal): Promise<void>;
}

interface Seen {
  readonly serial: number;
  readonly digest: string;
}

/** Remembers the newest manifest of each module that was authorized, outside of the daemon, so that it outlives it. */
export class SeenSerials implements SerialCheck {
  readonly #store: SerialStore;
  readonly #exclusive = new Exclusive();
  #seen: Data | undefined;

  constructor(store: SerialStore) {
    this.#store = store;
  }

  async check(module: string, serial: number, digest: string, signal: AbortSignal): Promise<void> {
    await this.#exclusive.run(async () => {
      this.#seen ??= (await this.#store.read(signal)) ?? {};
      if (!isNewer(this.#seen, module, serial, digest)) return;
      let written: Data = {};
      await this.#store.change((current, isThere) => {
        const data = isThere ? current : { ...this.#readable(), ...current };
        // Another daemon may have seen a newer one in the meantime.
        written = isNewer(data, module, serial, digest) ? { ...data, [module]: `${serial} ${digest}` } : data;
        return written;
      }, signal);
      // A key that was removed from the record stays known until the operator starts again.
      this.#seen = { ...this.#seen, ...written };
    });
  }

  /**
   * Writes a record that was deleted again, as far as it is known. Otherwise the next start would accept old signatures.
   * A record that exists is not changed: removing a key from it is how a user goes back to older files.
   *
   * @returns whether the record was gone
   */
  async restore(signal: AbortSignal): Promise<boolean> {
    return await this.#exclusive.run(async () => {
      const known = this.#readable();
      if (Object.keys(known).length === 0 || (await this.#store.read(signal)) !== undefined) return false;
      await this.#store.change((data, isThere) => (isThere ? data : known), signal);
      return true;
    });
  }

  /** What is remembered, without what a user has to correct first. */
  #readable(): Data {
    const entries = Object.entries(this.#seen ?? {});
    return Object.fromEntries(entries.filter(([, text]) => parse(text).serial !== Infinity));
  }
}

/** @throws OperatorError MODULE_UNAUTHORIZED when the seen one is newer, or another one with the same number */
function isNewer(seen: Data, module: string, serial: number, digest: string): boolean {
  const newest = Object.hasOwn(seen, module) ? parse(seen[module] ?? '') : undefined;
  if (newest === undefined || serial > newest.serial) return true;
  if (newest.serial === Infinity)
    throw refused(
      'the record of its last serial number cannot be read: correct or remove the key of the module in the ConfigMap of serial numbers, then start the operator again',
    );
  if (serial < newest.serial)
    throw refused(
      `its manifest has serial number ${serial}, but number ${newest.serial} has already run: to go back to this content, sign it again`,
    );
  if (digest !== newest.digest)
    throw refused(`different content was signed with the same serial number ${serial}: sign it again`);
  return false;
}

/** What cannot be understood must not let an old signature in. */
function parse(text: string): Seen {
  const [serial = '', digest = ''] = text.split(' ');
  return /^\d+$/u.test(serial) ? { serial: Number(serial), digest } : { serial: Infinity, digest };
}
