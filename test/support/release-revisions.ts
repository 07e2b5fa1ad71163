import { decodeRelease, releasePayload } from '@addon-operator/helm/release-record';
import type { World } from './world.ts';

/** A revision of a release, as helm keeps it. */
export interface Revision {
  readonly number: number;
  /** Of its chart. */
  readonly version: string;
  readonly manifest: string;
}

/** The revisions of a release that helm keeps, the oldest first. */
export async function revisionsOf(world: World, release: string): Promise<readonly Revision[]> {
  const query = `labelSelector=owner%3Dhelm,name%3D${release}`;
  const { items } = (await world.expect({ path: `${world.path('secrets')}?${query}` })) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly labels: { readonly version: string } };
      readonly data: { readonly release: string };
    }[];
  };
  const revisions = items.map(async ({ metadata, data }): Promise<Revision> => {
    const record = Buffer.from(data.release, 'base64').toString();
    const { chart, manifest } = releasePayload(await decodeRelease(record, metadata.name));
    return { number: Number(metadata.labels.version), version: chart.version, manifest };
  });
  return (await Promise.all(revisions)).toSorted((a, b) => a.number - b.number);
}
