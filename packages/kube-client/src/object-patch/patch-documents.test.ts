import { finish } from '@addon-operator/concurrency/steps';
import * as fc from 'fast-check';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { patchDocumentSteps } from './patch-documents.ts';

const LINES = [
  'a: 1\n',
  'b: [1, 2]\n',
  '\n',
  '# comment\n',
  '---\n',
  '---\r\n',
  '--- {b: 2}\n',
  '--- # comment\n',
  '--- |\n  ---x\n  y\n',
  'k: |\n  ---\n  x\n',
  "q: 'x\n\n  y'\n",
  '...\n',
  '%YAML 1.2\n',
  '---x: 1\n',
];

/** Its documents, or that it is broken. */
function attempt(read: () => readonly unknown[]): readonly unknown[] | 'broken' {
  try {
    return read();
  } catch {
    return 'broken';
  }
}

test('YAML that is read document by document means what it means as a whole', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 12 }), (lines) => {
      const text = `x: 1\n${lines.join('')}`;
      expect(attempt(() => finish(patchDocumentSteps(text)).documents)).toEqual(
        attempt(() => loadAll(text, { schema: CORE_SCHEMA })),
      );
    }),
    { numRuns: 2_000 },
  );
});

test('an error in a later document names the line of the whole text', () => {
  expect(() => finish(patchDocumentSteps('a: 1\n---\nb: 2\n---\nc: 3\nd: [\n'))).toThrow(/in line [67]/);
});
