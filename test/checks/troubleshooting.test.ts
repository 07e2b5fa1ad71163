import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { missingTests, type NamedTest, readCheckoutFile } from './test-lists.ts';

interface Symptom {
  readonly title: string;
  /** The tests that produce its messages. */
  readonly tests: readonly NamedTest[];
  readonly messages: readonly string[];
}

const symptoms = symptomsOf(readFileSync(join(projectRoot, 'docs/troubleshooting.md'), 'utf8'));

test('the page has symptoms', () => {
  expect(symptoms.length).toBeGreaterThan(25);
});

test.each(symptoms)('$title: names where to look and what to do', ({ messages, tests }) => {
  expect(messages).not.toEqual([]);
  expect(tests).not.toEqual([]);
});

test.each(symptoms)('$title: the tests that produce it exist', async ({ tests }) => {
  expect(await missingTests(tests, readCheckoutFile)).toEqual([]);
});

test.each(symptoms)('$title: its messages are expected by those tests', async ({ tests, messages }) => {
  const texts = await Promise.all(tests.map(({ file }) => readCheckoutFile(file)));
  expect(messages.filter((message) => !texts.some((text) => expectsMessage(text, message)))).toEqual([]);
});

test('symptomsOf() reads titles, tests and messages, and finds no message in another text', () => {
  const [symptom] = symptomsOf(
    '### It hangs\n\n<!-- test: src/a.test.ts > a hangs -->\n- Message: `a … hangs`\n- Look at: x.\n- Do: y.\n',
  );
  expect(symptom).toEqual({
    title: 'It hangs',
    tests: [{ file: 'src/a.test.ts', name: 'a hangs' }],
    messages: ['a … hangs'],
  });
  expect(expectsMessage("toThrow(/^a [^]* hangs/) // 'a' in b\\.c", 'a … hangs')).toBe(true);
  expect(expectsMessage('toThrow(/b hangs/)', 'c … hangs')).toBe(false);
});

/** The sections `### Title` with the content of their fixed lines, empty if a line is missing. */
function symptomsOf(page: string): Symptom[] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const isComplete = /^- Look at: .+$/m.test(section) && /^- Do: .+$/m.test(section);
      return {
        title: section.slice(0, section.indexOf('\n')),
        tests: [...section.matchAll(/^<!-- test: (\S+) > (.+) -->$/gm)].map(([, file = '', name = '']) => ({
          file,
          name,
        })),
        messages: isComplete
          ? [...section.matchAll(/^- Message: `(.+)`$/gm)].map(([, text = '']) => text)
          : [],
      };
    });
}

/** Whether a test file holds all fixed parts of a message, be it in a string, a template or a regular expression. */
function expectsMessage(text: string, message: string): boolean {
  const plain = text.replaceAll('\\', '');
  return message
    .split('…')
    .map((part) => part.trim())
    .every((part) => plain.includes(part));
}
