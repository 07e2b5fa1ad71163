import { performance } from 'node:perf_hooks';

const ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Milliseconds that it takes to read the metadata of all objects in each of these collections, one after the other. */
export async function listsMs(urls: readonly string[]): Promise<number> {
  const startMs = performance.now();
  for (const url of urls) {
    const answer = await fetch(url, { headers: { accept: ACCEPT } });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
    await answer.json();
  }
  return performance.now() - startMs;
}
