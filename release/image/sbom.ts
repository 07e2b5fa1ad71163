/** A CycloneDX document, as far as it is read here; npm adds licences, hashes and more to each component. */
export interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly version: number;
  readonly metadata?: { readonly component?: Component };
  readonly components?: readonly Component[];
  readonly dependencies?: readonly unknown[];
}

export interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly [field: string]: unknown;
}

/** One installed Debian package. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The installed packages of `/var/lib/dpkg/status`; those that were removed are left out. */
export function parseDpkgStatus(text: string): DebianPackage[] {
  return text.split(/\n\n+/).flatMap((paragraph) => {
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
    if (!field('Status').endsWith(' installed')) return [];
    return [{ name: field('Package'), version: field('Version'), architecture: field('Architecture') }];
  });
}

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly dev?: boolean; readonly link?: boolean }>
  >;
}

/** The packages of a lock file that are no development tools: npm leaves out of its list those that are peers as well. */
export function lockedComponents({ packages }: LockFile): Component[] {
  return Object.entries(packages).flatMap(([path, { version, dev = false, link = false }]) => {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || version === undefined || dev || link) return [];
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return [{ type: 'library', 'bom-ref': purl, name, version, purl }];
  });
}

/**
 * The components of the image: npm's, Debian's and the programs that were copied into it. The same content gives the same
 * bytes: without npm's serial number and time, sorted by type and name.
 */
export function imageBom(
  npm: Bom,
  packages: readonly DebianPackage[],
  tools: Readonly<Record<string, string>>,
  locked: readonly Component[] = [],
): Bom {
  const listed = new Set(npm.components?.map(({ purl }) => purl));
  const components = [
    ...(npm.components ?? []),
    ...new Map(locked.filter(({ purl }) => !listed.has(purl)).map((each) => [each.purl, each])).values(),
    ...packages.map(debianComponent),
    ...Object.entries(tools).map(([name, version]) => toolComponent(name, version)),
  ];
  const { bomFormat, specVersion } = npm;
  const component = npm.metadata?.component;
  return {
    bomFormat,
    specVersion,
    version: 1,
    ...(component === undefined ? {} : { metadata: { component } }),
    components: components.toSorted((a, b) => compare(sortKey(a), sortKey(b))),
    ...(npm.dependencies === undefined ? {} : { dependencies: npm.dependencies }),
  };
}

function debianComponent({ name, version, architecture }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

function toolComponent(name: string, version: string): Component {
  const purl = `pkg:generic/${name}@${version}`;
  return { type: 'application', 'bom-ref': purl, name, version, purl };
}

function sortKey({ type, name, version }: Component): string {
  return `${type}\n${name}\n${version}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
