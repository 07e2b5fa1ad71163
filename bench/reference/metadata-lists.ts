import { performance } from 'node:perf_hooks';

const ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Milliseconds that it takes to read the metadata of all objects in each of these collections, one after the other. */
export async function listsMs(urls: readonly string[]): Promise<number> {
  const startMs = performance.now();
  for (const url of urls) {
    const response = await fetch(url, { headers: { accept: ACCEPT } });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    await response.json();
  }
  return performance.now() - startMs;
}
