import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { systemClock } from '@addon-operator/base/clock';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { AllowedHosts, type LookupAll } from './allowed-hosts.ts';
import { postToHook } from './post-hook.ts';

const never = new AbortController().signal;
const CREDENTIALS = { authorization: undefined, secureContext: undefined };

/** A name server that returns the given responses in order, and repeats the last one. */
function resolver(...replies: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const lookup: LookupAll = (hostname, _options, callback) => {
    const addresses = replies[Math.min(asked.length, replies.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: isIP(address) })),
    );
  };
  return { lookup, asked };
}

async function post(url: string, hosts: AllowedHosts): Promise<number> {
  const request = {
    url: new URL(url),
    body: '{}',
    headers: {},
    credentials: CREDENTIALS,
    clock: systemClock,
  };
  return (await postToHook({ ...request, hosts }, never)).status;
}

const LOCAL_NUMBER = fc.oneof(
  ...[
    [0x00_00_00_00, 24],
    [0x7f_00_00_00, 24],
    [0xa9_fe_00_00, 16],
    [0xe0_00_00_00, 29],
  ].map(([network = 0, bits = 0]) =>
    fc.integer({ min: 0, max: 2 ** bits - 1 }).map((rest) => network + rest),
  ),
);

/** One address in the notations that URLs and name servers have for it. */
function notations(number: number): readonly string[] {
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256);
  const dotted = bytes.join('.');
  const hex = number.toString(16).padStart(8, '0');
  const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
  return [
    dotted,
    String(number),
    `0x${hex}`,
    bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
    `${bytes[0]}.${number % 2 ** 24}`,
    `[::ffff:${dotted}]`,
    `[::FFFF:${groups}]`,
    `[64:ff9b::${groups}]`,
    `[::${groups}]`,
    `${dotted}.`,
  ];
}

test('an address of this machine, its link or no machine is refused, in every notation of it', () => {
  const hosts = new AllowedHosts({ entries: ['*.svc'] });
  fc.assert(
    fc.property(LOCAL_NUMBER, (number) => {
      for (const host of notations(number))
        expect(() => hosts.requireReachable(new URL(`http://${host}/`))).toThrow('is not allowed');
    }),
  );
});

test.each([
  '[::]',
  '[::1]',
  '[fe80::1]',
  '[febf::1]',
  '[ff02::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '169.254.169.254',
  '10.0.0.1',
  '[::ffff:10.0.0.1]',
])('the address %s is refused, when 10.0.0.1 is that of the API server', (host) => {
  const hosts = new AllowedHosts({ entries: ['*.svc', 'localhost'], refused: ['10.0.0.1'] });
  expect(() => hosts.requireReachable(new URL(`http://${host}/`))).toThrow('is not allowed for HTTP hooks');
});

test.each(['10.0.0.2', '192.168.1.1', '8.8.8.8', '[2001:db8::1]', '[fd12::1]', 'example.com'])(
  'the host %s is reachable',
  (host) => {
    const hosts = new AllowedHosts({ entries: [], refused: ['10.0.0.1'] });
    expect(() => hosts.requireReachable(new URL(`http://${host}/`))).not.toThrow();
  },
);

test('a local address is reachable, when it is on the list in any notation', () => {
  const hosts = new AllowedHosts({ entries: ['127.0.0.1', '[::1]'] });
  for (const host of ['127.0.0.1', '0x7f000001', '[::ffff:7f00:1]', '[::1]'])
    expect(() => hosts.requireReachable(new URL(`http://${host}/`))).not.toThrow();
  expect(() => hosts.requireReachable(new URL('http://127.0.0.2/'))).toThrow('127.0.0.2 is not allowed');
});

const LISTED = ['*.svc', 'Hooks.example.com', '192.0.2.7'];

test.each(['web.shop.svc', 'WEB.shop.svc.', 'hooks.example.com', '192.0.2.7'])(
  'an object may name the host %s, when it is on the list',
  (host) => {
    const hosts = new AllowedHosts({ entries: LISTED });
    expect(() => hosts.requireListed(new URL(`http://${host}/`))).not.toThrow();
  },
);

test.each([
  'web.shop.svc.cluster.local',
  'svc',
  'web.shop.svc.evil.com',
  'evilsvc',
  'sub.hooks.example.com',
  '192.0.2.8',
])('an object may not name the host %s, when it is not on the list', (host) => {
  const hosts = new AllowedHosts({ entries: LISTED });
  expect(() => hosts.requireListed(new URL(`http://${host}/`))).toThrow(
    `the host ${host} is not allowed for a URL that an object names: add it to --http-hook-allowed-hosts`,
  );
});

test('no connection is made, when a listed name resolves to an address that is refused', async () => {
  const server = await startLoopbackServer((_request, response) => response.end());
  try {
    const { port } = new URL(server.url);
    for (const addresses of [['127.0.0.1'], ['::ffff:127.0.0.1'], ['192.0.2.1', '127.0.0.1']]) {
      const hosts = new AllowedHosts({ entries: ['*.svc', 'web.shop.svc'], ...resolver(addresses) });
      await expect(post(`http://web.shop.svc:${port}/`, hosts)).rejects.toThrow(
        'which is what web.shop.svc resolves to, is not allowed for HTTP hooks',
      );
    }
    expect(server.requests).toEqual([]);
  } finally {
    await server.stop();
  }
});

test.runIf(process.platform === 'linux')(
  'the address that was judged is the one connected to, when the name server changes its answer',
  async () => {
    const server = await startLoopbackServer((_request, response) => response.end());
    try {
      const { port } = new URL(server.url);
      const dns = resolver(['127.0.0.1'], ['127.0.0.2']);
      const hosts = new AllowedHosts({ entries: ['127.0.0.1'], lookup: dns.lookup });
      expect(await post(`http://rebinding.example.com:${port}/`, hosts)).toBe(200);
      expect(dns.asked).toEqual(['rebinding.example.com']);
      await expect(post(`http://rebinding.example.com:${port}/`, hosts)).rejects.toThrow('127.0.0.2');
      expect(server.requests).toHaveLength(1);
    } finally {
      await server.stop();
    }
  },
);

test('localhost is reachable, when it is on the list', async () => {
  const server = await startLoopbackServer((_request, response) => response.end());
  try {
    const { port } = new URL(server.url);
    const dns = resolver(['127.0.0.1']);
    const hosts = (entries: readonly string[]) => new AllowedHosts({ entries, lookup: dns.lookup });
    expect(await post(`http://localhost:${port}/`, hosts(['localhost']))).toBe(200);
    await expect(post(`http://localhost:${port}/`, hosts(['*.svc']))).rejects.toThrow('is not allowed');
    await expect(post(`http://other:${port}/`, hosts(['localhost']))).rejects.toThrow('is not allowed');
  } finally {
    await server.stop();
  }
});

test('a redirect is not followed, wherever it leads', async () => {
  const target = await startLoopbackServer((_request, response) => response.end());
  const server = await startLoopbackServer((_request, response) =>
    response.writeHead(307, { location: target.url }).end(),
  );
  try {
    expect(await post(`${server.url}/`, new AllowedHosts({ entries: ['127.0.0.1'] }))).toBe(307);
    expect(target.requests).toEqual([]);
  } finally {
    await server.stop();
    await target.stop();
  }
});
