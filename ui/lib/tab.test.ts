import { expect, test } from 'vitest';
import { tabIcon, tabTitle } from './tab.ts';

test.each([
  ['well', 'prod', 'Now · prod'],
  ['notice', '', 'Now · addon-operator'],
  ['waiting', 'prod', '… Now · prod'],
  ['broken', 'prod', '✖ Now · prod'],
] as const)('the title of a tab whose operator is %s in the cluster "%s" is %s', (level, cluster, title) => {
  expect(tabTitle('Now', cluster, level)).toBe(title);
});

test('icons differ in shape and colour', () => {
  const icons = (['well', 'waiting', 'broken', 'unknown'] as const).map((level) => tabIcon(level));
  const parts = icons.map((icon) => /fill="(#\w+)".*path d="([^"]+)"/.exec(decodeURIComponent(icon)));
  expect(new Set(parts.map((part) => part?.[1])).size).toBe(4);
  expect(new Set(parts.map((part) => part?.[2])).size).toBe(4);
});
