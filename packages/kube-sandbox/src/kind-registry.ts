import { BUILT_IN_KINDS, type ServedKind, storageOf } from './kinds.ts';

/** The kinds that are served at the moment: the built-in ones and those of established CRDs. */
export class KindRegistry {
  readonly #customKinds = new Map<string, readonly ServedKind[]>();
  #all: readonly ServedKind[] = BUILT_IN_KINDS;

  /** All kinds, in the order of discovery. */
  get kinds(): readonly ServedKind[] {
    return this.#all;
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#all.find(
      (kind) => kind.plural === plural && kind.group === group && kind.version === version,
    );
  }

  /** A kind by its storage name; any version of it. */
  ofStorage(storage: string): ServedKind | undefined {
    return this.#all.find((kind) => storageOf(kind) === storage);
  }

  /** A kind by the `apiVersion` and `kind` of an object or a reference. */
  ofObject(apiVersion: string, kindName: string): ServedKind | undefined {
    return this.#all.find((kind) => {
      if (kind.kind !== kindName) return false;
      return kind.group === '' ? apiVersion === kind.version : apiVersion === `${kind.group}/${kind.version}`;
    });
  }

  /** Whether a group is served; with a version, whether that group version is. */
  hasGroup(group: string, version?: string): boolean {
    return this.#all.some(
      (kind) => kind.group === group && (version === undefined || kind.version === version),
    );
  }

  /** Replaces the kinds of one CRD; an empty list takes them out of service. */
  setCustomKinds(definitionName: string, kinds: readonly ServedKind[]): void {
    if (kinds.length === 0) this.#customKinds.delete(definitionName);
    else this.#customKinds.set(definitionName, kinds);
    this.#all = [...BUILT_IN_KINDS, ...[...this.#customKinds.values()].flat()];
  }
}
