import {
  equalJson,
  type Fields,
  fieldsAt,
  numberAt,
  scalarText,
  stringAt,
  stringsAt,
  valueAt,
} from '../json-access.ts';
import type { ResourceObject } from '../resource-object.ts';
import { cronProblem } from './cron-rules.ts';
import type { FieldErrors } from './field-errors.ts';
import { dnsLabel } from './name-rules.ts';
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
const MODES = ['NonIndexed', 'Indexed'];
const REPLACEMENT = ['Failed', 'TerminatingOrFailed'];
const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];
const MAX_CRON_JOB_NAME = 52;

/** Checks a Job, its generated selector included. */
export function validateJob(job: ResourceObject, errors: FieldErrors, isUpdate: boolean): void {
  const spec = fieldsAt(job, 'spec');
  if (!isUpdate) validateGenerated(job, errors);
  validateJobSpec(spec, 'spec', errors);
  const selector = spec['selector'];
  if (selector === undefined) errors.required('spec.selector');
  else validateSelector(selector, 'spec.selector', errors);
  const labels = stringsAt(spec, 'template', 'metadata', 'labels');
  if (selector === undefined || selectorMatches(selector, labels) === false)
    errors.invalid(
      'spec.template.metadata.labels',
      valueAt(spec, 'template', 'metadata', 'labels'),
      '`selector` does not match template `labels`',
    );
  const completions = numberAt(spec, 'completions') ?? 0;
  const hostname = `${job.metadata.name}-${completions - 1}`;
  if (spec['completionMode'] === 'Indexed' && completions > 0 && dnsLabel(hostname).length > 0)
    errors.invalid(
      'metadata.name',
      job.metadata.name,
      `will not able to create pod with invalid DNS label: ${hostname}`,
    );
}

const CONTROLLER_LABEL = 'batch.kubernetes.io/controller-uid';

/** The selector of a Job is not for its author to choose, unless the author says so. */
function validateGenerated(job: ResourceObject, errors: FieldErrors): void {
  if (valueAt(job, 'spec', 'manualSelector') === true) return;
  const selector = valueAt(job, 'spec', 'selector');
  const generated = { matchLabels: { [CONTROLLER_LABEL]: job.metadata.uid } };
  if (selector !== undefined && !equalJson(selector, generated))
    errors.invalid('spec.selector', selector, '`selector` not auto-generated');
}

function validateJobSpec(spec: Fields, path: string, errors: FieldErrors): void {
  for (const field of COUNTS) errors.nonNegative(`${path}.${field}`, spec[field]);
  const { maxFailedIndexes, backoffLimitPerIndex, completionMode } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined)
    errors.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
  if (completionMode !== undefined && !MODES.includes(scalarText(completionMode)))
    errors.notSupported(`${path}.completionMode`, completionMode, MODES);
  if (completionMode === 'Indexed' && spec['completions'] === undefined)
    errors.required(`${path}.completions`, 'when completion mode is Indexed');
  if (completionMode === undefined || completionMode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (spec[field] !== undefined)
        errors.invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode');
    }
  }
  validateReplacement(spec, `${path}.podReplacementPolicy`, errors);
  validatePodTemplate(fieldsAt(spec, 'template'), `${path}.template`, errors);
  validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`, errors);
}

function validateReplacement(spec: Fields, path: string, errors: FieldErrors): void {
  const policy = spec['podReplacementPolicy'];
  if (policy === undefined) return;
  if (spec['podFailurePolicy'] !== undefined) {
    if (policy !== 'Failed') errors.notSupported(path, policy, ['Failed']);
  } else if (!REPLACEMENT.includes(scalarText(policy))) errors.notSupported(path, policy, REPLACEMENT);
}

function validateRestartPolicy(spec: Fields, path: string, errors: FieldErrors): void {
  const policy = stringAt(spec, 'template', 'spec', 'restartPolicy');
  if (policy === '' || policy === 'Always') errors.required(path, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never')
    errors.notSupported(path, policy, ['OnFailure', 'Never']);
  else if (spec['podFailurePolicy'] !== undefined && policy !== 'Never')
    errors.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified');
}

/** Checks a CronJob. */
export function validateCronJob(cronJob: ResourceObject, errors: FieldErrors, isUpdate: boolean): void {
  const spec = fieldsAt(cronJob, 'spec');
  validateSchedule(stringAt(spec, 'schedule'), errors);
  errors.nonNegative('spec.startingDeadlineSeconds', spec['startingDeadlineSeconds']);
  validateTimeZone(spec['timeZone'], errors);
  errors.oneOf('spec.concurrencyPolicy', spec['concurrencyPolicy'], CONCURRENCY);
  const jobSpec = fieldsAt(spec, 'jobTemplate', 'spec');
  validateJobSpec(jobSpec, 'spec.jobTemplate.spec', errors);
  if (jobSpec['selector'] !== undefined)
    errors.invalid(
      'spec.jobTemplate.spec.selector',
      jobSpec['selector'],
      '`selector` will be auto-generated',
    );
  if (jobSpec['manualSelector'] === true)
    errors.notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']);
  errors.nonNegative('spec.successfulJobsHistoryLimit', spec['successfulJobsHistoryLimit']);
  errors.nonNegative('spec.failedJobsHistoryLimit', spec['failedJobsHistoryLimit']);
  const { name } = cronJob.metadata;
  // The time that its Jobs have at the end of their names takes the rest.
  if (!isUpdate && name.length > MAX_CRON_JOB_NAME)
    errors.invalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`);
}

function validateSchedule(schedule: string, errors: FieldErrors): void {
  if (schedule === '') {
    errors.required('spec.schedule');
    return;
  }
  const problem = cronProblem(schedule);
  if (problem !== undefined) errors.invalid('spec.schedule', schedule, problem);
  if (schedule.includes('TZ'))
    errors.invalid(
      'spec.schedule',
      schedule,
      'cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    );
}

function validateTimeZone(timeZone: unknown, errors: FieldErrors): void {
  if (typeof timeZone !== 'string') return;
  const path = 'spec.timeZone';
  if (timeZone === '') errors.invalid(path, timeZone, 'timeZone must be nil or non-empty string');
  else if (timeZone.toLowerCase() === 'local')
    errors.invalid(
      path,
      timeZone,
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    );
  else if (!isTimeZone(timeZone)) errors.invalid(path, timeZone, `unknown time zone ${timeZone}`);
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** What a Job is created with beyond its defaults: a selector of its own, and the labels that it selects. */
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
