/** A CRD as it is in the cluster. */
export interface LiveCrd {
  readonly name: string;
  /** `status.storedVersions`: versions in which objects may be stored. */
  readonly storedVersions: readonly string[];
}

/** The versions of a CRD that the files of a content have. */
export interface CrdOfFiles {
  readonly name: string;
  readonly versions: readonly string[];
}

/**
 * Why content must not return although CRDs never go back: objects may be stored in a version that
 * its files, hooks and charts do not know. A CRD that only one side has forbids nothing.
 *
 * @returns one sentence for each CRD, empty if the content may return
 */
export function crdsForbid(live: readonly LiveCrd[], files: readonly CrdOfFiles[]): readonly string[] {
  return files.flatMap(({ name, versions }) => {
    const stored = live.find((crd) => crd.name === name)?.storedVersions ?? [];
    const unknown = stored.filter((version) => !versions.includes(version));
    if (unknown.length === 0) return [];
    return `objects of CRD ${name} may be stored in ${unknown.join(', ')}, and the files know ${versions.join(', ')} only: migrate the objects and remove the version from status.storedVersions first`;
  });
}
