import { expect, test } from 'vitest';
import { markdownTable } from './markdown-table.ts';

test('columns are as wide as their widest cell', () => {
  const rows = [
    ['long name', 'a|b'],
    ['n', ''],
  ];
  expect(markdownTable(['Name', 'X'], rows)).toBe(
    `| Name      | X    |
| --------- | ---- |
| long name | a\\|b |
| n         |      |
`,
  );
});
