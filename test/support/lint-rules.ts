import { describe, expect, test } from 'vitest';
import type { Module } from '../../src/modules/module.ts';
import { type ModuleManifest, NO_MANIFEST } from '../../src/modules/module-manifest.ts';
import { parseModuleName } from '../../src/modules/module-name.ts';
import type { Requirement } from '../../src/modules/requirement.ts';
import { lintModule } from '../../src/tools/lint/lint.ts';
import type { FileFacts, LintFacts, ParsedModule } from '../../src/tools/lint/lint-facts.ts';
import type { Found, Rule } from '../../src/tools/lint/rule.ts';
import { keyOfName } from '../../src/values/module-key.ts';

/** What differs from a module with nothing in it. */
export interface LintedModule {
  readonly directoryName?: string;
  readonly files?: readonly FileFacts[];
  readonly module?: Partial<Pick<Module, 'version' | 'chart'>>;
  readonly manifest?: Partial<ModuleManifest>;
  readonly parsed?: Partial<ParsedModule>;
}

/** One module, and what a rule finds in it. */
export interface RuleRow extends LintedModule {
  readonly rule: string;
  readonly what: string;
  /** Path and message of each finding, and the object behind them where it is about one. */
  readonly found: readonly (readonly [string, string, string?])[];
}

/** A module in the modules directory. */
export function moduleNamed(text: string, version?: string, requires: readonly Requirement[] = []): Module {
  const name = parseModuleName(text);
  return {
    name,
    key: keyOfName(name),
    order: 0,
    path: '',
    chart: 'none',
    enabledScript: undefined,
    ownFlag: undefined,
    staticValues: {},
    manifest: { ...NO_MANIFEST, requires },
    version,
  };
}

function factsOf(linted: LintedModule): LintFacts {
  const { directoryName = '030-web', files = [], module, manifest, parsed = {} } = linted;
  return {
    directory: `modules/${directoryName}`,
    directoryName,
    files,
    parsed: {
      problems: [],
      module: { ...moduleNamed('web'), ...module, manifest: { ...NO_MANIFEST, ...manifest } },
      siblings: [],
      chartFiles: [],
      values: {},
      hookFiles: [],
      unusedFiles: [],
      hooks: [],
      renderings: [],
      namespacedKinds: new Set(['v1/ConfigMap']),
      ...parsed,
    },
  };
}

export function file(path: string, text = '', more: Partial<FileFacts> = {}): FileFacts {
  return { path, type: 'file', isExecutable: false, sizeBytes: text.length, text, ...more };
}

export function script(path: string, text = '#!/bin/sh\n'): FileFacts {
  return file(path, text, { isExecutable: true });
}

/** A file that is no UTF-8 text. */
export function binary(path: string, sizeBytes: number, isExecutable = false): FileFacts {
  return { path, type: 'file', isExecutable, sizeBytes };
}

/** The template of all that `rendered()` renders. */
export const TEMPLATE = 'templates/a.yaml';

export function manifest(...documents: readonly string[]): string {
  return documents.map((document) => `---\n# Source: web/${TEMPLATE}\n${document}\n`).join('');
}

/** A module whose chart renders to these documents. */
export function rendered(...documents: readonly string[]): LintedModule {
  const text = manifest(...documents);
  return { parsed: { renderings: [{ valuesFile: '', manifests: [text, text] }] } };
}

/** A manifest of `shop/web` of some kind. */
export function typed(apiVersion: string, kind: string, more = ''): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: web, namespace: shop}\n${more}`;
}

/** A Deployment with one container. What is given begins with a comma for the container, and ends with one else. */
export function deployment(container = '', pod = '', spec = ''): string {
  return typed(
    'apps/v1',
    'Deployment',
    `spec: {${spec}template: {spec: {${pod}containers: [{name: web, image: "web:1.0"${container}}]}}}`,
  );
}

/** A finding about a rendered object. */
export function about(
  message: string,
  object = 'apps/v1/shop/Deployment/web',
): readonly [string, string, string] {
  return [TEMPLATE, message, object];
}

/**
 * The table test of some rules: each has a row with a finding and one without. Rules of the parsers of the operator pass on what
 * these say.
 */
export function describeRules(
  rules: readonly Rule[],
  rows: readonly RuleRow[],
  ofParsers: readonly string[],
): void {
  const check = (code: string, facts: LintedModule): readonly Found[] => {
    const rule = rules.find((one) => one.code === code);
    if (rule === undefined) throw new Error(`there is no rule ${code}`);
    return [...(rule.check?.(factsOf(facts)) ?? [])];
  };

  describe('a rule finds what breaks it, and nothing else', () => {
    test.each(rows)('$rule: $what', ({ rule, found, ...facts }) => {
      const findings = check(rule, facts).map(({ path, message, object }) =>
        object === undefined ? [path, message] : [path, message, object],
      );
      expect(findings).toEqual(found);
    });

    test.each(ofParsers)('%s: what the parser of the operator says', (rule) => {
      const said = { path: 'a.yaml', message: 'is wrong' };
      const problems = [
        { ...said, rule },
        { rule: 'another', path: 'b.yaml', message: 'is wrong, too' },
      ];
      const findings = (facts: LintedModule) => lintModule(factsOf(facts), { rules: [rule] }).findings;
      expect(findings({ parsed: { problems } })).toMatchObject([said]);
      expect(findings({})).toEqual([]);
    });

    test.each([true, false])('each rule has a row where a finding is %s', (isFound) => {
      const codes = rows.filter(({ found }) => found.length > 0 === isFound).map(({ rule }) => rule);
      const own = rules.map(({ code }) => code).filter((code) => !ofParsers.includes(code));
      expect([...new Set(codes)].toSorted()).toEqual(own.toSorted());
    });
  });
}
