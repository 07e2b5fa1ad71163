import { Redactor } from '@addon-operator/masking/redactor';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

function cut(bytes: Buffer, sizeBytes: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += sizeBytes) chunks.push(bytes.subarray(at, at + sizeBytes));
  return chunks;
}

test.each<[string, string, string[]]>([
  ['drops LF and CR LF', 'a\nb\r\nc\n', ['a', 'b', 'c']],
  ['keeps empty lines', '\n\r\n\n', ['', '', '']],
  ['keeps a lone CR, as progress bars print it', 'a\rb\n', ['a\rb']],
  ['hands over the rest without a line end', 'a\nb', ['a', 'b']],
  ['keeps NUL and ANSI bytes as data', 'a\0b\n\u001b[31mred\n', ['a\0b', '\u001b[31mred']],
  ['keeps characters of several bytes whole', 'grüße\n🙂🙂\n', ['grüße', '🙂🙂']],
  ['says nothing for no output', '', []],
])('LineSplitter %s', (_name, text, lines) => {
  for (const sizeBytes of [1, 2, 3, 1000]) expect(split(cut(Buffer.from(text), sizeBytes))).toEqual(lines);
});

test('LineSplitter replaces invalid UTF-8', () => {
  expect(split([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3])])).toEqual(['a\ufffdb', '\ufffd']);
});

test('LineSplitter cuts long lines into pieces of 64 KiB and loses none', () => {
  const line = 'x'.repeat(150_000);
  for (const end of ['\n', '\r\n', '']) {
    for (const sizeBytes of [1000, 65_536, 200_000]) {
      const pieces = split(cut(Buffer.from(line + end), sizeBytes));
      expect(pieces.map((piece) => piece.replaceAll('…', '').length)).toEqual([65_536, 65_536, 18_928]);
      expect(pieces.map((piece) => piece.replaceAll(/x+/g, 'x'))).toEqual(['x…', '…x…', '…x']);
      expect(pieces.join('').replaceAll('…', '')).toBe(line);
    }
  }
});

test('LineSplitter makes no extra line when a line is exactly as long as a piece', () => {
  for (const end of ['\n', '\r\n']) {
    const line = 'x'.repeat(65_536);
    expect(split(cut(Buffer.from(`${line}${end}\nnext${end}`), 1000))).toEqual([line, '', 'next']);
  }
});

test('LineSplitter keeps a CR that is not the end of a line of a whole piece', () => {
  const line = 'x'.repeat(65_536);
  expect(split([Buffer.from(`${line}\ry\n`)])).toEqual([`${line}\r…`, '…y']);
});

test('a secret in two pieces of a line is masked in both, wherever the line is cut', () => {
  const redactor = new Redactor();
  redactor.add('correct&horse-battery');
  for (const written of [
    'correct&horse-battery',
    String.raw`correct\u0026horse-battery`,
    'correct%26horse-battery',
  ])
    for (let before = 4; before <= written.length - 4; before += 1) {
      const text = `${'x'.repeat(65_536 - before)}${written} behind`;
      const lines = split([Buffer.from(text)]).map((line) => redactor.text(line));
      expect([lines.length, lines.join('').replaceAll(/x+/g, 'x')]).toEqual([2, 'x***……*** behind']);
    }
});

test.each(['🙂', '€', 'ä'])('LineSplitter does not cut the bytes of %s in two', (character) => {
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    const line = shift + character.repeat(70_000);
    const pieces = split(cut(Buffer.from(line), 10_000));
    expect(pieces.join('').replaceAll('…', '')).toBe(line);
    const sizes = pieces.map((piece) => Buffer.byteLength(piece.replaceAll('…', '')));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
  }
});

test('LineSplitter gives the same lines however the stream is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ä', '🙂', '\n', '\r', '\0', ' ') });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (whole, sizeBytes) => {
      const bytes = Buffer.from(whole);
      expect(split(cut(bytes, sizeBytes))).toEqual(split([bytes]));
    }),
  );
});
