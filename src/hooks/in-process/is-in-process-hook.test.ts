import { expect, test } from 'vitest';
import { cpuTimeMs } from '../../../test/support/cpu-time.ts';
import { isInProcessHook, isScriptName } from '../find-hooks.ts';

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
  [
    "import { defineHook } from './mine.ts';\nimport { defineHook } from 'addon-operator/sdk';\nexport default defineHook({});",
    true,
  ],
  ['#!/usr/bin/env node\nconsole.log("{}");', false],
  ['', false],
])('isInProcessHook(%j) is %s', (text, expected) => {
  expect(isInProcessHook(text)).toBe(expected);
});

test.each(['import {', 'import { defineHook ', 'import {defineHook}', 'export ', 'import '])(
  'isInProcessHook() is done with megabytes of %j in no time',
  (part) => {
    const startedMs = cpuTimeMs();
    expect(isInProcessHook(part.repeat(200_000))).toBe(false);
    expect(cpuTimeMs() - startedMs).toBeLessThan(2_000);
  },
);

test('isScriptName() knows the four endings, and none else', () => {
  const names = ['a.ts', 'a.mts', 'a.js', 'a.mjs', 'a.cjs', 'a.cts', 'a.tsx', 'a.ts.sh', 'ts'];
  expect(names.filter(isScriptName)).toEqual(['a.ts', 'a.mts', 'a.js', 'a.mjs']);
});
