import { Agent, get } from 'node:http';

const PAGE_SIZE = 500;

interface Page {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly object[];
}

/** Downloads a list page by page over one connection and parses it; returns the number of its items, which `keep` gets. */
export async function listPaged(url: string, keep?: (items: readonly object[]) => void): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let items = 0;
  let next = '';
  do {
    const query = `limit=${PAGE_SIZE}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
    const page: Page = JSON.parse(await textOf(`${url}?${query}`, agent));
    items += page.items.length;
    keep?.(page.items);
    next = page.metadata.continue ?? '';
  } while (next !== '');
  agent.destroy();
  return items;
}

async function textOf(url: string, agent: Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(url, { agent }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () => resolve(Buffer.concat(chunks).toString()));
  }).on('error', reject);
  return await promise;
}
