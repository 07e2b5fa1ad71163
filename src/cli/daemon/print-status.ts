import { type Json, parseJson } from '@addon-operator/json';
import { requestDebug } from '../../server/debug-client.ts';
import { type OperatorStatus, statusText } from '../../status/operator-status.ts';
import { type CliHost, failWith } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { paintFor, wantsColor } from '../output/paint.ts';

const STYLES = { well: 'green', notice: 'yellow', waiting: 'yellow', broken: 'red' } as const;
const EXIT_CODES = { well: 0, notice: 0, waiting: 2, broken: 1 } as const;

/**
 * Prints the status of the running operator and returns the exit code: 0 if all is well, 2 while something goes on that
 * needs no help, 1 if a person is needed. With `isStrict` a notice is 2 too.
 *
 * @throws OperatorError DEBUG_SOCKET when there is no response in time
 */
export async function printStatus(
  socketPath: string,
  { format, isStrict }: { readonly format: OutputFormat; readonly isStrict: boolean },
  host: CliHost,
): Promise<number> {
  const { status, body, code } = await requestDebug({ socketPath, path: '/status.json' }, host.clock);
  if (status !== 200) return failWith(host, body, code);
  const data = parseJson(body) as OperatorStatus & Json; // what the operator makes of this type
  const text = await shown(data, body, format);
  const paint = paintFor(format === 'text' && wantsColor(host.stdout.isTTY === true, host.env));
  const [first = '', ...others] = (host.stdout.isTTY === true ? harmless(text) : text).split('\n');
  host.stdout.write([paint(STYLES[data.level], first), ...others].join('\n'));
  return isStrict && data.level === 'notice' ? EXIT_CODES.waiting : EXIT_CODES[data.level];
}

async function shown(status: OperatorStatus & Json, body: string, format: OutputFormat): Promise<string> {
  switch (format) {
    case 'json':
      return body;
    case 'yaml': {
      const { dumpYaml } = await import('@addon-operator/yaml');
      return dumpYaml(status, 2);
    }
    case 'name':
      return `${status.level}\n`;
    case 'table':
    case 'wide':
    case 'text':
      return statusText(status);
  }
}
