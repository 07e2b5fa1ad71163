import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { archiveAsOtherRendering, asOtherRendering } from './second-rendering.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'archive-'));
  mkdirSync(join(directory, 'sub', 'templates'), { recursive: true });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function pack(template: string): Buffer {
  writeFileSync(join(directory, 'sub', 'Chart.yaml'), 'name: sub\n');
  writeFileSync(join(directory, 'sub', 'templates', 'a.yaml'), template);
  writeFileSync(join(directory, 'sub', 'z.txt'), 'last');
  execFileSync('tar', ['-czf', 'sub.tgz', 'sub'], { cwd: directory });
  return readFileSync(join(directory, 'sub.tgz'));
}

test('archiveAsOtherRendering() returns an archive that tar reads, also when lengths changed', () => {
  const template = '{{ now }}\n'.repeat(200);
  writeFileSync(join(directory, 'other.tgz'), archiveAsOtherRendering(pack(template)));
  const read = (name: string): string =>
    execFileSync('tar', ['-xzOf', 'other.tgz', name], { cwd: directory, encoding: 'utf8' });
  expect(read('sub/templates/a.yaml')).toBe(asOtherRendering(template));
  expect(read('sub/Chart.yaml')).toBe('name: sub\n');
  expect(read('sub/z.txt')).toBe('last');
});

test('archiveAsOtherRendering() returns undefined for an empty file, or one that is no archive', () => {
  const packed = pack('{{ .Values.now }}');
  expect(archiveAsOtherRendering(packed)).toBe(packed);
  const garbage = Buffer.from('garbage');
  expect(archiveAsOtherRendering(garbage)).toBe(garbage);
});
