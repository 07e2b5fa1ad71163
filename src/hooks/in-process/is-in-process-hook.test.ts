import { expect, test } from 'vitest';
import { isInProcessHook, isScriptName } from './is-in-process-hook.ts';

test.each([
  ["import { defineHook } from 'addon-operator/sdk';\nexport default defineHook({}, () => {});", true],
  [
    'import {\n  defineHook,\n  type Json,\n} from "addon-operator/sdk";\nexport default defineHook(c, h);',
    true,
  ],
  [
    "import { defineHook as hook } from 'addon-operator/sdk'; const it = hook(c, h); export { it as default };",
    true,
  ],
  ["import { defineHook } from 'addon-operator/sdk';\nexport const hook = defineHook({}, () => {});", false],
  ["import type { HookInput } from 'addon-operator/sdk';\nexport default function f() {}", false],
  ["import { defineHook } from './mine.ts';\nexport default defineHook({});", false],
  ['#!/usr/bin/env node\nconsole.log("{}");', false],
  ['', false],
])('isInProcessHook(%j) is %s', (text, expected) => {
  expect(isInProcessHook(text)).toBe(expected);
});

test('isScriptName() knows the four endings, and none else', () => {
  const names = ['a.ts', 'a.mts', 'a.js', 'a.mjs', 'a.cjs', 'a.cts', 'a.tsx', 'a.ts.sh', 'ts'];
  expect(names.filter(isScriptName)).toEqual(['a.ts', 'a.mts', 'a.js', 'a.mjs']);
});
