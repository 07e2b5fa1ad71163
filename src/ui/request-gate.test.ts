import { expect, test } from 'vitest';
import { gateRefusal } from './ui-handler.ts';

const GATE = { allowedHosts: ['ops.example.com'] };

test.each([
  '127.0.0.1:9652',
  '127.0.0.1',
  '127.8.9.10:80',
  'localhost:8080',
  'LOCALHOST',
  '[::1]:9652',
  'ops.example.com',
  'OPS.example.com:443',
])('a request to the host %s passes', (host) => {
  expect(gateRefusal({ host }, false, GATE)).toBeUndefined();
});

test.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '10.0.0.1:9652',
  'ops.example.com.evil.example',
  'user@localhost',
  'localhost:9652/x',
  'localhost:port',
  '[::2]',
])('a request to the host %j is refused', (host) => {
  expect(gateRefusal({ host }, false, GATE)).toContain('is not allowed');
});

const host = 'localhost:9652';
const LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test.each([
  { host, origin: 'http://localhost:9652' },
  { host, 'sec-fetch-site': 'same-origin' },
  { host, 'sec-fetch-site': 'none' },
  // A proxy may name another host to the server than the one that the browser knows.
  { host, 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8001' },
])('a request of the page itself passes: %j', (headers) => {
  expect(gateRefusal(headers, false, GATE)).toBeUndefined();
});

test.each([
  { host, origin: 'http://evil.example' },
  { host, origin: 'http://localhost:3000' },
  { host, origin: 'null' },
  { host, origin: 'not an origin' },
  { host, 'sec-fetch-site': 'cross-site' },
  { host, 'sec-fetch-site': 'same-site' },
  { host, 'sec-fetch-site': 'cross-site', origin: 'http://localhost:9652' },
  { host, 'sec-fetch-site': ['same-origin', 'cross-site'] },
  { host, ...LINK, 'sec-fetch-dest': 'iframe' },
  { host, ...LINK, origin: 'http://evil.example' },
])('a request of a page of another origin is refused: %j', (headers) => {
  expect(gateRefusal(headers, true, GATE)).toContain('another origin');
});

test('a link elsewhere opens the page, and no response of the API', () => {
  expect(gateRefusal({ host, ...LINK }, true, GATE)).toBeUndefined();
  expect(gateRefusal({ host, ...LINK }, false, GATE)).toContain('another origin');
});
