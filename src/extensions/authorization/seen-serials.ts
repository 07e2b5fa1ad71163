import { Exclusive } from '../../lib/exclusive.ts';
import type { SerialCheck } from './keyring-policy.ts';
import { refused } from './module-content.ts';

type Data = Readonly<Record<string, string>>;

/** Where the newest serial numbers are kept. Both methods wait until the API server answers. */
export interface SerialStore {
  read(signal: AbortSignal): Promise<Data>;
  change(change: (data: Data) => Data, signal: AbortSignal): Promise<void>;
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
      this.#seen ??= await this.#store.read(signal);
      if (!isNewer(this.#seen, module, serial, digest)) return;
      let written: Data = {};
      await this.#store.change((data) => {
        // Somebody else may have seen a newer one meanwhile.
        written = isNewer(data, module, serial, digest) ? { ...data, [module]: `${serial} ${digest}` } : data;
        return written;
      }, signal);
      // Of a record that was deleted meanwhile at least we remember what was in it.
      this.#seen = { ...this.#seen, ...written };
    });
  }
}

/** @throws OperatorError MODULE_UNAUTHORIZED when the seen one is newer, or another one with the same number */
function isNewer(seen: Data, module: string, serial: number, digest: string): boolean {
  const newest = Object.hasOwn(seen, module) ? parse(seen[module] ?? '') : undefined;
  if (newest === undefined || serial > newest.serial) return true;
  if (serial < newest.serial)
    throw refused(
      `its manifest has serial number ${serial}, but number ${newest.serial} was run before: sign it again to go back to it`,
    );
  if (digest !== newest.digest)
    throw refused(`another content was signed with the same serial number ${serial}: sign it again`);
  return false;
}

/** What cannot be understood must not let an old signature in. */
function parse(text: string): Seen {
  const [serial = '', digest = ''] = text.split(' ');
  return /^\d+$/u.test(serial) ? { serial: Number(serial), digest } : { serial: Infinity, digest };
}
