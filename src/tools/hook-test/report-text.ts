import type { Json } from '@addon-operator/json';
import { pathText } from '@addon-operator/json/shape';
import { dumpYaml } from '@addon-operator/yaml';
import type { StepFinding } from './check-step.ts';
import type { CaseFailure, CaseResult } from './run-case.ts';

/** The results of one test file. */
export interface FileResult {
  /** As it was named to the command. */
  readonly file: string;
  readonly cases: readonly CaseResult[];
  /** Why none of its cases could be run, or what else is wrong. */
  readonly problem?: string;
  /** The file can be used: its problem is a failed test. */
  readonly isOnlyFailed?: true;
  readonly notes?: readonly string[];
}

/** Longest text that is shown of a value. */
const MAX_SHOWN = 4_000;
const MAX_OUTPUT_LINES = 50;

/** Why a case failed, for people: the step, each difference, and what the hook printed. */
export function caseFailureText({ step, findings, runs }: CaseFailure): string {
  const output = runs.flatMap((run) => run.output.map(({ text }) => text));
  return [
    ...(step === undefined ? [] : [`step ${step.index + 1}, ${step.title}`]),
    ...findings.flatMap(findingLines),
    ...(output.length === 0
      ? []
      : ['the hook printed:', ...output.slice(-MAX_OUTPUT_LINES).map((line) => `  | ${line}`)]),
  ].join('\n');
}

function findingLines(finding: StepFinding): readonly string[] {
  if (!('path' in finding)) return [finding.message];
  const { path, expected, actual, message } = finding;
  return [
    `${pathText(path)}${message === undefined ? '' : ` ${message}`}`,
    ...valueLines(expected).map((line) => `  - ${line}`),
    ...valueLines(actual).map((line) => `  + ${line}`),
  ];
}

function valueLines(value: unknown): readonly string[] {
  if (value === undefined) return ['(absent)'];
  const shown = dumpYaml(value as Json, 2).trimEnd();
  const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n…` : shown;
  return cut.split('\n');
}

/** Most requests that are named. */
const MAX_REQUESTS = 5;
/** Requests with which clients discover the API. */
const DISCOVERY = /^GET \/(?:api(?:\/[^/]+)?|apis(?:\/[^/]+){0,2}|openapi\/.*|version)$/;

/** That the hook of a case is impure, and by which requests; undefined if it is not. */
export function impureText({ requests = [] }: CaseResult): string | undefined {
  const others = requests.filter((request) => !DISCOVERY.test(request));
  const counts = new Map<string, number>();
  for (const request of others.length > 0 ? others : requests)
    counts.set(request, (counts.get(request) ?? 0) + 1);
  const named = [...counts].map(([request, count]) =>
    count === 1 ? request : `${request} (${count} times)`,
  );
  const more = named.length > MAX_REQUESTS ? [`${named.length - MAX_REQUESTS} more`] : [];
  return named.length === 0
    ? undefined
    : `impure, the hook itself requested: ${[...named.slice(0, MAX_REQUESTS), ...more].join(', ')}`;
}

/** How many cases passed, failed and were skipped; files that could not be read count as failed. */
export function countResults(files: readonly FileResult[]): {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
} {
  const cases = files.flatMap((file) => file.cases);
  const of = (result: CaseResult['result']): number => cases.filter((each) => each.result === result).length;
  const unusable = files.filter(({ problem }) => problem !== undefined).length;
  return { passed: of('passed'), failed: of('failed') + unusable, skipped: of('skipped') };
}
