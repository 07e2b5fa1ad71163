import { isObject } from '@addon-operator/json';
import { type Mismatch, mismatches, type RunJq } from './match.ts';
import type { Expectation, ExpectedMetric, ExpectedObject } from './test-file.ts';
import type { ChangeFacts, ObservedRun, StepFacts, TestWorld } from './test-world.ts';

/** A failure of one step; in words, or as a difference. */
export type StepFinding = { readonly message: string } | Mismatch;

type Observed = Pick<TestWorld, 'object' | 'values' | 'configValues'>;

/** Compares what came of a step with what is expected of it. Failures, error logs and unnamed changes are never accepted silently. */
export async function checkStep(
  expect: Expectation,
  facts: StepFacts,
  world: Observed,
  jq: RunJq,
): Promise<readonly StepFinding[]> {
  const { runs } = facts;
  const compare = async (name: keyof Expectation, actual: unknown): Promise<readonly StepFinding[]> =>
    expect[name] === undefined ? [] : await mismatches(expect[name], actual, jq, [name]);
  return [
    ...outcomeFindings(expect, runs),
    ...(await compare('error', runs.find(({ failure }) => failure !== undefined)?.failure)),
    ...(await compare('runs', runs.length)),
    ...(await compare(
      'contexts',
      runs.flatMap(({ contexts }) => contexts),
    )),
    ...(await compare(
      'operations',
      runs.flatMap(({ operations }) => operations),
    )),
    ...(await objectFindings(expect, facts.changes, world, jq)),
    ...(await compare('values', world.values())),
    ...(await compare('configValues', world.configValues())),
    ...(await metricFindings(expect.metrics ?? [], runs, jq)),
    ...(await compare('output', outputOf(runs))),
    ...(await compare('requests', facts.requests)),
    ...(await responseFindings(expect, facts, compare)),
    ...errorFindings(expect, facts),
  ];
}

/** Checks the result that the API server would have made of the response. */
async function responseFindings(
  expect: Expectation,
  { admission, conversion }: StepFacts,
  compare: (name: keyof Expectation, actual: unknown) => Promise<readonly StepFinding[]>,
): Promise<readonly StepFinding[]> {
  const mayFail = expect.outcome === 'failure';
  const findings: StepFinding[] = [];
  if (admission !== undefined && !mayFail && admission.isAllowed !== (expect.allowed ?? true))
    findings.push({
      message: admission.isAllowed
        ? 'allowed: the request is allowed, although it must be denied'
        : `allowed: the request is denied${expect.allowed === undefined ? ', and the step does not expect that (allowed: false)' : ''}: ${admission.message}`,
    });
  const failed = conversion !== undefined && 'message' in conversion ? conversion.message : undefined;
  if (failed !== undefined && !mayFail && expect.message === undefined)
    findings.push({ message: `the conversion failed: ${failed}` });
  return [
    ...findings,
    ...(await compare('message', failed ?? admission?.message)),
    ...(await compare('warnings', admission?.warnings)),
    ...(await compare('patched', admission?.patched)),
    ...(await compare(
      'converted',
      conversion !== undefined && 'objects' in conversion ? conversion.objects : undefined,
    )),
  ];
}

function outcomeFindings(
  { outcome = 'success' }: Expectation,
  runs: readonly ObservedRun[],
): readonly StepFinding[] {
  if (outcome === 'success')
    return runs.flatMap(({ failure, binding }) =>
      failure === undefined ? [] : [{ message: `the run for ${binding} failed: ${failure}` }],
    );
  if (runs.length === 0) return [{ message: 'outcome: the hook was not run' }];
  if (outcome !== 'failure')
    return runs
      .filter(({ verdict }) => verdict !== outcome)
      .map(({ binding, failure, verdict = 'failure' }) => ({
        message: `outcome: the run for ${binding} ${failure === undefined ? 'succeeded' : `came to ${verdict} (${failure})`}, although ${outcome} is expected`,
      }));
  return runs.every(({ failure }) => failure === undefined)
    ? [{ message: 'outcome: the hook succeeded, although a failure is expected' }]
    : [];
}

async function objectFindings(
  expect: Expectation,
  changes: readonly ChangeFacts[],
  world: Observed,
  jq: RunJq,
): Promise<readonly StepFinding[]> {
  const { objects, operations, others } = expect;
  const findings: StepFinding[] = [];
  for (const [index, wanted] of (objects ?? []).entries())
    findings.push(...(await objectFinding(wanted, ['objects', index], world, jq)));
  if (objects === undefined && operations === undefined) return findings;
  // What is named as operations is compared there.
  if (others === 'allowed' || objects === undefined) return findings;
  const unnamed = changes.filter((change) => !objects.some((wanted) => isNamed(wanted, change)));
  return [
    ...findings,
    ...unnamed.map((change) => ({
      message: `the hook ${change.change} ${titleOf(change)}, which is not among the expected objects (others: allowed permits that)`,
    })),
  ];
}

function isNamed(wanted: ExpectedObject, { apiVersion, kind, namespace, name }: ChangeFacts): boolean {
  return (
    wanted.kind === kind &&
    wanted.name === name &&
    wanted.namespace === namespace &&
    (wanted.apiVersion === undefined || wanted.apiVersion === apiVersion)
  );
}

async function objectFinding(
  wanted: ExpectedObject,
  path: readonly (string | number)[],
  world: Observed,
  jq: RunJq,
): Promise<readonly StepFinding[]> {
  const object = await world.object(wanted);
  const title = titleOf(wanted);
  if (wanted.absent === true)
    return object === undefined ? [] : [{ message: `${title} exists, although it must be absent` }];
  if (object === undefined) return [{ message: `${title} does not exist` }];
  if (wanted.is === undefined) return [];
  const found = await mismatches(wanted.is, object, jq, [...path, 'is']);
  return found.map((mismatch) => ({ ...mismatch, message: mismatch.message ?? `of ${title}` }));
}

function titleOf({
  kind,
  namespace,
  name,
}: Pick<ChangeFacts, 'kind' | 'name'> & { readonly namespace?: string | undefined }): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

async function metricFindings(
  wanted: readonly ExpectedMetric[],
  runs: readonly ObservedRun[],
  jq: RunJq,
): Promise<readonly StepFinding[]> {
  const written = runs.flatMap(({ metrics }) => metrics);
  const findings: StepFinding[] = [];
  for (const [index, { name, labels, value }] of wanted.entries()) {
    const pattern = {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(value === undefined ? {} : { value }),
    };
    let isFound = false;
    for (const metric of written) isFound ||= (await mismatches(pattern, metric, jq)).length === 0;
    const named = written.filter((metric) => isObject(metric) && metric['name'] === name);
    if (!isFound)
      findings.push({
        path: ['metrics', index],
        expected: pattern,
        actual: named.length > 0 ? named : written,
        message: 'no such metric was written',
      });
  }
  return findings;
}

/** A hook that logs errors in a run that succeeds has an unexpected problem. */
function errorFindings({ output }: Expectation, { runs, errors }: StepFacts): readonly StepFinding[] {
  const printed = runs.flatMap((run) =>
    run.failure === undefined && output === undefined
      ? run.output.filter(({ level }) => level === 'error' || level === 'fatal')
      : [],
  );
  return [
    ...runs.flatMap(({ problems = [] }) => problems.map((message) => ({ message }))),
    ...printed.map((line) => ({
      message: `the hook logged an error, and the step expects no output: ${line.text}`,
    })),
    ...errors.map((message) => ({ message: `logged as an error: ${message}` })),
  ];
}

/** The output of the hook, as one text. */
export function outputOf(runs: readonly ObservedRun[]): string {
  return runs.flatMap(({ output }) => output.map((line) => `${line.text}\n`)).join('');
}
