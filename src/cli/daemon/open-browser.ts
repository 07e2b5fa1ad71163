import { spawn } from 'node:child_process';
import { type CliHost, fail } from '../cli-host.ts';

/** Opens an address in the browser of this machine. Without one a line says so, and the printed address is enough. */
export async function openBrowser(address: string, host: CliHost): Promise<void> {
  const command = host.env['BROWSER'] ?? (process.platform === 'darwin' ? 'open' : 'xdg-open');
  const { promise, resolve } = Promise.withResolvers<void>();
  const child = spawn(command, [address], { stdio: 'ignore', detached: true });
  child.once('spawn', resolve);
  child.once('error', ({ message }) => {
    fail(host, `no browser can be opened (${message}): open the address above`);
    resolve();
  });
  await promise;
  child.unref();
}
