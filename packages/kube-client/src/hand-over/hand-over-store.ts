import {
  type ConfigMapObject,
  type ConfigMapRef,
  changeConfigMapData,
  parseConfigMap,
  readConfigMap,
  writeConfigMapData,
} from '../config-map-object.ts';
import { isOutrun, type KubeClient } from '../kube-client.ts';
import type { LeaseObject, LeaseStore } from '../leader-election/lease-store.ts';
import {
  changeHandOver,
  type HandOverEntry,
  handOverFields,
  handOverKey,
  parseHandOver,
  withEnd,
} from './hand-over-entry.ts';

export interface HandOverStoreOptions {
  readonly kube: KubeClient;
  readonly ref: ConfigMapRef;
  /** The subject that is handed over. */
  readonly name: string;
  /** The process that wants it. */
  readonly holder: string;
  /** Whether it is taken from another process that has it. */
  readonly isForced: boolean;
  /** Called with each reading of the entry; undefined where there is none. */
  readonly onRead: (entry: HandOverEntry | undefined) => void;
}

/** The object that this store reads and writes in place of a Lease. */
interface ReadEntry extends LeaseObject {
  readonly configMap: ConfigMapObject | undefined;
  /** Undefined where there is no entry. */
  readonly spec: Readonly<Record<string, unknown>> | undefined;
}

/**
 * An entry of a ConfigMap with the fields of a Lease, held by the same election as a Lease. A holder that releases it, or
 * has ended after losing it, writes its name as `releasedBy`, so that the owner need not wait until it expires.
 */
export class HandOverStore implements Pick<LeaseStore, 'read' | 'write'> {
  readonly #options: HandOverStoreOptions;
  /** Later the entry of another holder means that this one has lost it. */
  #isFirstWrite = true;

  constructor(options: HandOverStoreOptions) {
    this.#options = options;
  }

  /** @throws OperatorError KUBE_API or KUBE_UNREACHABLE */
  async read(signal: AbortSignal): Promise<ReadEntry> {
    const { kube, ref } = this.#options;
    return this.#parse(await readConfigMap(kube, ref, signal));
  }

  /**
   * Writes the entry, and keeps all others.
   *
   * @param read what {@link read} or the last write returned
   * @returns undefined when another client wrote to the ConfigMap in the meantime
   * @throws OperatorError KUBE_API or KUBE_UNREACHABLE
   */
  async write(
    read: LeaseObject | undefined,
    spec: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    sendBeforeMs = Number.POSITIVE_INFINITY,
  ): Promise<ReadEntry | undefined> {
    const { kube, ref, name, holder } = this.#options;
    const { configMap, spec: before } = isReadEntry(read) ? read : await this.read(signal);
    const released = spec['holderIdentity'] === '' ? { releasedBy: holder } : {};
    const entry = { ...before, ...spec, ...released };
    const data = { ...configMap?.data, [handOverKey(name)]: JSON.stringify(entry) };
    try {
      const response = await writeConfigMapData(kube, ref, configMap, data, signal, { sendBeforeMs });
      const written = parseConfigMap(response);
      this.#isFirstWrite = false;
      return this.#parse(written);
    } catch (error) {
      if (isOutrun(error, configMap === undefined)) return undefined;
      throw error;
    }
  }

  /**
   * Notes that this holder has ended without releasing the entry: it was lost, or not renewed in time. Fields of another
   * process stay, and if the entry is gone nothing is noted.
   *
   * @throws OperatorError KUBE_API or KUBE_UNREACHABLE
   */
  async noteEnd(signal: AbortSignal): Promise<void> {
    const { kube, ref, name, holder } = this.#options;
    const noted = (entry: string): string => withEnd(entry, holder);
    await changeConfigMapData(kube, ref, (data) => changeHandOver(data, name, noted), signal);
  }

  #parse(configMap: ConfigMapObject | undefined): ReadEntry {
    const { name, holder, isForced, onRead } = this.#options;
    const entry = configMap?.data[handOverKey(name)];
    const fields = handOverFields(entry);
    onRead(parseHandOver(entry));
    // With force the entry is presented as free, so that the election claims it at once.
    const isTaken =
      isForced && this.#isFirstWrite && fields !== undefined && fields['holderIdentity'] !== holder;
    return { configMap, spec: isTaken ? { ...fields, holderIdentity: '' } : fields };
  }
}

function isReadEntry(read: LeaseObject | undefined): read is ReadEntry {
  return read !== undefined && 'configMap' in read;
}
