import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dumpYaml } from '@addon-operator/yaml';

const MANIFEST = resolve(import.meta.dirname, '../package.json');

/**
 * Writes the manifest beside the archive that `packOperator` made, for the version of this checkout.
 *
 * @param url where krew downloads the archive
 * @returns its path
 */
export async function writeKrewManifest(archive: string, url: string): Promise<string> {
  const path = join(dirname(archive), 'addons.yaml');
  const { version, description } = JSON.parse(await readFile(MANIFEST, 'utf8')) as {
    readonly version: string;
    readonly description: string;
  };
  await writeFile(path, krewManifest({ version, description, content: await readFile(archive), url }));
  return path;
}

/** The archive of the operator as `npm run pack` makes it, and where it is published. */
interface PublishedArchive {
  readonly version: string;
  readonly description: string;
  readonly content: Uint8Array;
  /** Where krew downloads it. */
  readonly url: string;
}

/**
 * The manifest with which krew installs the archive as the plug-in `kubectl addons`: in an index of your own, or by
 * `kubectl krew install --manifest=addons.yaml`. Node is not in the archive.
 */
function krewManifest({ version, description, content, url }: PublishedArchive): string {
  return dumpYaml(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'addons' },
      spec: {
        version: `v${version}`,
        shortDescription: 'Look at addon-operator and act on it',
        description,
        caveats: 'Needs Node 24 or newer in PATH, or ADDON_OPERATOR_NODE with the path of one.',
        platforms: [
          {
            selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
            uri: url,
            sha256: createHash('sha256').update(content).digest('hex'),
            files: [{ from: 'package/*', to: '.' }],
            bin: 'bin/addon-operator',
          },
        ],
      },
    },
    2,
  );
}
