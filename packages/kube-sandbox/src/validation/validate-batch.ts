import { equalJson, fieldsAt, stringsAt } from '../json-access.ts';
import type { ResourceObject } from '../resource-object.ts';
import { cronProblem } from './cron-rules.ts';
import type { Field } from './field.ts';
import { dnsLabel } from './name-rules.ts';
import { reportMismatch } from './validate-apps.ts';
import { selectorMatches, validateSelector } from './validate-meta.ts';
import { validatePodTemplate } from './validate-pod.ts';

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const MAX_CRON_JOB_NAME = 52;

/** Checks a Job, its generated selector included. */
export function validateJob(job: Field, isUpdate: boolean): void {
  const spec = job.at('spec');
  if (!isUpdate) validateGenerated(job);
  validateJobSpec(spec);
  const selector = spec.at('selector');
  if (selector.isSet) validateSelector(selector);
  else selector.required();
  const labels = stringsAt(spec.value, 'template', 'metadata', 'labels');
  if (!selector.isSet || selectorMatches(selector.value, labels) === false) reportMismatch(spec);
  const name = job.at('metadata', 'name');
  const completions = spec.at('completions').number ?? 0;
  const hostname = `${name.string}-${completions - 1}`;
  if (spec.at('completionMode').value === 'Indexed' && completions > 0 && dnsLabel(hostname).length > 0)
    name.invalid(`will not able to create pod with invalid DNS label: ${hostname}`);
}

const CONTROLLER_LABEL = 'batch.kubernetes.io/controller-uid';

/** The selector of a Job is not for its author to choose, unless the author says so. */
function validateGenerated(job: Field): void {
  if (job.at('spec', 'manualSelector').value === true) return;
  const selector = job.at('spec', 'selector');
  const generated = { matchLabels: { [CONTROLLER_LABEL]: job.at('metadata', 'uid').value } };
  if (selector.isSet && !equalJson(selector.value, generated))
    selector.invalid('`selector` not auto-generated');
}

function validateJobSpec(spec: Field): void {
  for (const field of COUNTS) spec.at(field).nonNegative();
  const perIndex = spec.at('backoffLimitPerIndex');
  const maxFailed = spec.at('maxFailedIndexes');
  const mode = spec.at('completionMode');
  if (maxFailed.isSet && !perIndex.isSet) perIndex.required('when maxFailedIndexes is specified');
  mode.oneOfIfSet(['NonIndexed', 'Indexed']);
  if (mode.value === 'Indexed' && !spec.at('completions').isSet)
    spec.at('completions').required('when completion mode is Indexed');
  if (!mode.isSet || mode.value === 'NonIndexed') {
    for (const field of [perIndex, maxFailed])
      if (field.isSet) field.invalid('requires indexed completion mode');
  }
  const hasFailurePolicy = spec.at('podFailurePolicy').isSet;
  spec
    .at('podReplacementPolicy')
    .oneOfIfSet(hasFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']);
  validatePodTemplate(spec.at('template'));
  validateRestartPolicy(spec.at('template', 'spec', 'restartPolicy'), hasFailurePolicy);
}

function validateRestartPolicy(policy: Field, hasFailurePolicy: boolean): void {
  if (policy.string === '' || policy.string === 'Always')
    policy.required('valid values: "OnFailure", "Never"');
  else if (policy.string !== 'OnFailure' && policy.string !== 'Never')
    policy.notSupported(['OnFailure', 'Never']);
  else if (hasFailurePolicy && policy.string !== 'Never')
    policy.invalid('only "Never" is supported when podFailurePolicy is specified');
}

/** Checks a CronJob. */
export function validateCronJob(cronJob: Field, isUpdate: boolean): void {
  const spec = cronJob.at('spec');
  validateSchedule(spec.at('schedule'));
  spec.at('startingDeadlineSeconds').nonNegative();
  validateTimeZone(spec.at('timeZone'));
  spec.at('concurrencyPolicy').oneOf(['Allow', 'Forbid', 'Replace']);
  const jobSpec = spec.at('jobTemplate', 'spec');
  validateJobSpec(jobSpec);
  const selector = jobSpec.at('selector');
  if (selector.isSet) selector.invalid('`selector` will be auto-generated');
  const manual = jobSpec.at('manualSelector');
  if (manual.value === true) manual.notSupported(['nil', 'false']);
  spec.at('successfulJobsHistoryLimit').nonNegative();
  spec.at('failedJobsHistoryLimit').nonNegative();
  const name = cronJob.at('metadata', 'name');
  // The time that its Jobs have at the end of their names takes the rest.
  if (!isUpdate && name.string.length > MAX_CRON_JOB_NAME)
    name.invalid(`must be no more than ${MAX_CRON_JOB_NAME} characters`);
}

function validateSchedule(schedule: Field): void {
  if (schedule.string === '') {
    schedule.required();
    return;
  }
  const problem = cronProblem(schedule.string);
  if (problem !== undefined) schedule.invalid(problem);
  if (schedule.string.includes('TZ'))
    schedule.invalid('cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
}

function validateTimeZone(timeZone: Field): void {
  const { value } = timeZone;
  if (typeof value !== 'string') return;
  if (value === '') timeZone.invalid('timeZone must be nil or non-empty string');
  else if (value.toLowerCase() === 'local')
    timeZone.invalid('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  else if (!isTimeZone(value)) timeZone.invalid(`unknown time zone ${value}`);
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** A Job with what it is created with beyond its defaults: a selector of its own, and the labels that it selects. */
export function withJobSelector(job: ResourceObject): ResourceObject {
  const spec = fieldsAt(job, 'spec');
  if (spec['manualSelector'] === true) return job;
  const { name, uid = '' } = job.metadata;
  const template = fieldsAt(spec, 'template');
  const labels = {
    ...fieldsAt(template, 'metadata', 'labels'),
    [CONTROLLER_LABEL]: uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const given = fieldsAt(spec, 'selector');
  const matchLabels = { ...fieldsAt(given, 'matchLabels'), [CONTROLLER_LABEL]: uid };
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...given, matchLabels },
      template: { ...template, metadata: { ...fieldsAt(template, 'metadata'), labels } },
    },
  };
}
