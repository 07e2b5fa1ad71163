import { memoryUsage } from 'node:process';
import { listPaged } from './paged-list.ts';

// Keeps a whole list in memory, as a client with a plain cache does, and prints by how many bytes its RSS grew.
const [url = ''] = process.argv.slice(2);
const kept: object[] = [];
const before = memoryUsage.rss();
await listPaged(url, (items) => kept.push(...items));
process.send?.({ items: kept.length, grownBytes: memoryUsage.rss() - before });
