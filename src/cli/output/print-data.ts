import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';

/**
 * Prints data, such as JSON or YAML. On a terminal no control character is printed: its escape means the same in both
 * formats. A pipe gets the data byte for byte.
 */
export function printData({ stdout }: Pick<CliHost, 'stdout'>, text: string): void {
  stdout.write(stdout.isTTY === true ? harmless(text) : text);
}
