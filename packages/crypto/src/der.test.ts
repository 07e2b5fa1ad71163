import { expect, test } from 'vitest';
import { integer, objectIdentifier, octetString, time, utf8String } from './der.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('integers are as short as can be and never read as negative', () => {
  expect(hex(integer(Buffer.from([0])))).toBe('020100');
  expect(hex(integer(Buffer.from([0, 0, 5])))).toBe('020105');
  expect(hex(integer(Buffer.from([0x80])))).toBe('02020080');
});

test('lengths from 128 on take the long form', () => {
  expect(hex(octetString(Buffer.alloc(127))).slice(0, 4)).toBe('047f');
  expect(hex(octetString(Buffer.alloc(128))).slice(0, 6)).toBe('048180');
  expect(hex(octetString(Buffer.alloc(300))).slice(0, 8)).toBe('0482012c');
});

test('object identifiers are written in base 128', () => {
  expect(hex(objectIdentifier('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
});

test('texts are UTF-8', () => {
  expect(hex(utf8String('é'))).toBe('0c02c3a9');
});

test('moments change their form with the year 2050', () => {
  expect(time(Date.parse('2049-12-31T23:59:59.900Z')).toString('latin1')).toBe('\x17\x0d491231235959Z');
  expect(time(Date.parse('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z');
});
