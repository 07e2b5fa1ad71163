import { isIPv4 } from 'node:net';

/** The 4 or 16 bytes of an IP address, as certificates hold it. */
export function ipAddressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes every IPv6 address in its shortest form, without a dotted part.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = groups(left);
  const tail = groups(right ?? '');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Buffer.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
