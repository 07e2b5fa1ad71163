import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputHead, OutputTail } from './output-ends.ts';

const chunks = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 20 }));

test('OutputHead keeps the first bytes and says whether there were more', () => {
  fc.assert(
    fc.property(chunks, fc.integer({ min: 0, max: 30 }), (parts, capacityBytes) => {
      const head = new OutputHead(capacityBytes);
      for (const part of parts) head.push(Buffer.from(part));
      const whole = parts.join('');
      expect(head.toString()).toBe(whole.slice(0, capacityBytes));
      expect(head.isTruncated).toBe(whole.length > capacityBytes);
    }),
  );
});

test('OutputTail keeps the last lines', () => {
  const tail = new OutputTail(12);
  tail.push(Buffer.from('secret-word\nline 1\n2\n'));
  expect(tail.toString()).toBe('line 1\n2\n');
});

test('OutputTail keeps the last bytes of a line, and says that it was cut', () => {
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 30 }), (parts, capacityBytes) => {
      const tail = new OutputTail(capacityBytes);
      for (const part of parts) tail.push(Buffer.from(part));
      const whole = parts.join('');
      const isCut = whole.length > capacityBytes;
      expect(tail.toString()).toBe(isCut ? `…${whole.slice(-capacityBytes)}` : whole);
    }),
  );
});

test('OutputTail starts with a whole character', () => {
  const tail = new OutputTail(6);
  tail.push(Buffer.from('🙂🙂'));
  expect(tail.toString()).toBe('…🙂');
});
