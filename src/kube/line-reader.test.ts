import { expect, test } from 'vitest';
import { readLines } from './line-reader.ts';

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function collect(bytes: Buffer, size: number): Promise<string[]> {
  const lines: string[] = [];
  try {
    for await (const line of readLines(chunked(bytes, size))) lines.push(line);
  } catch (error) {
    lines.push(error instanceof Error ? error.constructor.name : 'unknown');
  }
  return lines;
}

const text = '{"a":"grüße 🎈 \u2028"}\n\n{"b":1}\r\n{"c":""}\n';

test('readLines() gives whole lines wherever the chunks are cut, characters included', async () => {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    expect(await collect(bytes, size)).toEqual(['{"a":"grüße 🎈 \u2028"}', '{"b":1}\r', '{"c":""}']);
  }
});

test('readLines() never delivers a piece of a line, whatever byte the stream is cut at', async () => {
  const bytes = Buffer.from('first\n{"a":"grüße 🎈"}\n');
  for (let length = 7; length < bytes.length; length += 1) {
    expect(await collect(bytes.subarray(0, length), 5)).toEqual(['first', 'TruncatedLineError']);
  }
});

test('readLines() refuses bytes that are no UTF-8', async () => {
  expect(await collect(Buffer.from([0x61, 0x0a, 0xff, 0x0a]), 2)).toEqual(['a', 'TypeError']);
});
