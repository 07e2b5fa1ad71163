import { messageOf } from '@addon-operator/base/errors';
import type { Span, SpanAttributes, SpanContext } from '@addon-operator/base/trace';
import { NO_SPAN } from '@addon-operator/base/trace';
import type { HelmOutcome } from '@addon-operator/helm/helm-process';

/** The place of helm's spans in a trace. */
export interface ReleaseSpans {
  /** Default: nothing is traced. */
  readonly parent: Span | undefined;
  readonly release: string;
}

/**
 * Begins the span of one helm process.
 *
 * @param ahead the context that the process was started with in advance; the span continues it if
 *   it is in the same trace, and links to it otherwise
 */
export function startHelmSpan(
  { parent = NO_SPAN, release }: ReleaseSpans,
  command: string,
  ahead?: SpanContext,
): Span {
  const { context } = parent;
  if (context === undefined) return NO_SPAN;
  const isSame = ahead?.traceId === context.traceId;
  return parent.child({
    name: `helm ${command}`,
    attributes: {
      'addon_operator.helm.release': release,
      ...(ahead !== undefined && { 'addon_operator.helm.started_ahead': true }),
    },
    ...(ahead !== undefined && (isSame ? { spanId: ahead.spanId } : { links: [ahead] })),
  });
}

/** Runs helm within a span of its own. */
export async function tracedHelm(
  spans: ReleaseSpans,
  command: string,
  run: (span: SpanContext | undefined) => Promise<HelmOutcome>,
): Promise<HelmOutcome> {
  const span = startHelmSpan(spans, command);
  try {
    const outcome = await run(span.context);
    span.set(exitCodeOf(outcome));
    span.end(outcome.type === 'failed' ? { error: outcome.error } : {});
    return outcome;
  } catch (error) {
    span.end({ error: messageOf(error) });
    throw error;
  }
}

export function exitCodeOf(outcome: HelmOutcome): SpanAttributes {
  return {
    'addon_operator.exit_code': outcome.type === 'succeeded' ? 0 : outcome.exitCode,
  };
}
