import { fieldsOf } from '@addon-operator/json';
import { readableLine } from '@addon-operator/strings/escape-controls';
import type { PrintedLine, TrialRun } from '../../devkit/try-hook.ts';
import type { MetricOperation } from '../../metrics/metric-operation.ts';
import type { DiffLine } from '../../plan/line-diff.ts';
import { diffLine } from '../operator/plan-text.ts';
import type { Paint, Style } from '../output/paint.ts';

const OBJECT_STYLES: Readonly<Record<TrialRun['objects'][number]['change'], Style>> = {
  created: 'green',
  changed: 'yellow',
  deleted: 'red',
};

/** A line that the hook printed, as it comes. */
export function printedLineText({ stream, level, text, fields }: PrintedLine, paint: Paint): string {
  const given = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const mark =
    stream === 'stderr' || level === 'error' || level === 'fatal' ? paint('red', '!') : paint('dim', '|');
  return `  ${mark} ${readableLine(text)}${paint('dim', given.join(''))}\n`;
}

/** The first line of a run: `Synchronization of secrets with 2 objects`. */
export function runTitle(contexts: unknown): string {
  const titles = (Array.isArray(contexts) ? contexts : [contexts]).map(contextTitle);
  return [...new Set(titles)].join(', ');
}

function contextTitle(context: unknown): string {
  const { binding, type, groupName, watchEvent, objects, object } = context as Readonly<
    Record<string, unknown>
  >;
  switch (type) {
    case 'Synchronization': {
      const items: readonly unknown[] = Array.isArray(objects) ? objects : [];
      const count = items.length;
      return `Synchronization of ${String(binding)} with ${count} object${count === 1 ? '' : 's'}${namesText(items)}`;
    }
    case 'Event':
      return `${String(watchEvent)} event of ${String(binding)}${objectTitle(object)}`;
    case 'Schedule':
      return `schedule ${String(binding)}`;
    case 'Group':
      return `group ${String(groupName)}`;
    default:
      return String(binding);
  }
}

const SHOWN_OBJECTS = 5;

/** The first objects of a Synchronization; nothing for a binding that keeps none. */
function namesText(items: readonly unknown[]): string {
  const names = items.map((item) => objectTitle(fieldsOf(item)['object']).replace(/^: /, '')).filter(Boolean);
  if (names.length === 0) return '';
  const more = names.length - SHOWN_OBJECTS;
  return `: ${names.slice(0, SHOWN_OBJECTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function objectTitle(object: unknown): string {
  if (object === undefined) return '';
  const { kind, metadata } = object as { kind: string; metadata: { name: string; namespace?: string } };
  return `: ${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

/** The outcome of a run, for people. */
export function runText(run: TrialRun, paint: Paint, isApplied = false): string {
  const [would, wouldBe] = isApplied ? ['', 'was'] : ['would ', 'would be'];
  const { values, configValues, metrics, objects, failure, durationMs } = run;
  const end =
    failure === undefined
      ? paint('green', `succeeded in ${durationMs} ms`)
      : paint('red', `failed after ${durationMs} ms: ${failure.message}`);
  return [
    ...differenceText(`values ${would}change`, values, paint),
    ...differenceText(`config values in the ConfigMap ${would}change`, configValues, paint),
    ...metrics.map((metric) => `  metric ${metricText(metric)}`),
    ...objects.flatMap(({ change, object, lines }) => [
      `  ${paint('bold', object)} ${wouldBe} ${paint(OBJECT_STYLES[change], change)}`,
      ...lines.map((line) => diffLine(line, paint)),
    ]),
    `  ${end}`,
    '',
  ].join('\n');
}

function differenceText(title: string, lines: readonly DiffLine[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => diffLine(line, paint))];
}

function metricText(metric: MetricOperation): string {
  if (metric.action === 'expire') return `group ${metric.group ?? 'of the hook'} expires`;
  const { name, labels, action, value } = metric;
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${action} ${value}`;
}
