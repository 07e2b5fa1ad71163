import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { rssMb } from './process-usage.ts';

/** Megabytes of memory of a Node process that does nothing. */
export async function bareNodeMb(): Promise<number> {
  const code = 'console.log("ready"); setInterval(() => 0, 1e6)';
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: child.stdout })) if (line === 'ready') break;
  const mb = rssMb(child.pid ?? 0);
  child.kill();
  return mb;
}
