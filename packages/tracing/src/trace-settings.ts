/** Settings from the standard variables of OpenTelemetry. Those about the connection are read by its exporter itself. */
export interface TraceSettings {
  /** The whole URL. */
  readonly url: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: {
    readonly type: 'on' | 'off' | 'ratio';
    readonly ratio: number;
    readonly followsParent: boolean;
  };
  /** Spans that wait to be sent, at most. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  readonly delayMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The settings, and a warning for each variable without effect; no settings if traces are not to be exported.
 *
 * @param serviceName the attribute `service.name`, if no variable has one
 */
export function readTraceSettings(
  env: Env,
  serviceName: string,
): {
  readonly settings: TraceSettings | undefined;
  readonly warnings: readonly string[];
} {
  const warnings: string[] = [];
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  const tracesEndpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '';
  if ((env['TRACING_OTLP_ENDPOINT'] ?? '') !== '')
    warnings.push(
      'TRACING_OTLP_ENDPOINT has no effect: traces are sent by HTTP (port 4318), not by gRPC; set OTEL_EXPORTER_OTLP_ENDPOINT, such as http://collector:4318',
    );
  const isOff = isTrue(env['OTEL_SDK_DISABLED']) || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (isOff || (endpoint === '' && tracesEndpoint === '')) return { settings: undefined, warnings };
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? '';
  if (protocol !== '' && protocol !== 'http/json')
    warnings.push(`OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but traces are sent as http/json (port 4318)`);
  const url = tracesEndpoint === '' ? `${endpoint.replace(/\/$/, '')}/v1/traces` : tracesEndpoint;
  if (!URL.canParse(url)) {
    warnings.push(
      `OTEL_EXPORTER_OTLP_ENDPOINT has no effect: "${url}" is not a URL such as http://collector:4318`,
    );
    return { settings: undefined, warnings };
  }
  const number = (name: string, initial: number): number => {
    const value = env[name] ?? '';
    if (value === '') return initial;
    if (/^\d{1,9}$/.test(value) && Number(value) > 0) return Number(value);
    warnings.push(`${name} must be a whole number above zero: ${initial} is used`);
    return initial;
  };
  const settings: TraceSettings = {
    url,
    resource: resourceOf(env, serviceName),
    sampler: samplerOf(env, warnings),
    maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048),
    maxBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 5_000),
  };
  return { settings, warnings };
}

/** As the specification defines booleans: any other value is false. */
function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

/**
 * `OTEL_RESOURCE_ATTRIBUTES` is `name=value,…` with percent-encoded values; `OTEL_SERVICE_NAME` wins over it.
 */
function resourceOf(env: Env, serviceName: string): Readonly<Record<string, string>> {
  const pairs = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  const given = Object.fromEntries(pairs);
  const name = env['OTEL_SERVICE_NAME'] ?? '';
  return { 'service.name': serviceName, ...given, ...(name !== '' && { 'service.name': name }) };
}

/** A value with invalid percent-encoding is kept as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** An unknown sampler traces everything and warns: missing traces would go unnoticed. */
function samplerOf(env: Env, warnings: string[]): TraceSettings['sampler'] {
  const name = env['OTEL_TRACES_SAMPLER'] ?? '';
  const followsParent = name === '' || name.startsWith('parentbased_');
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] ?? '1');
  switch (name.replace('parentbased_', '')) {
    case '':
    case 'always_on':
      return { type: 'on', ratio: 1, followsParent };
    case 'always_off':
      return { type: 'off', ratio: 0, followsParent };
    case 'traceidratio':
      if (ratio >= 0 && ratio <= 1) return { type: 'ratio', ratio, followsParent };
      warnings.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1: all events are traced');
      return { type: 'on', ratio: 1, followsParent };
    default:
      warnings.push(`OTEL_TRACES_SAMPLER ${name} is not known: all events are traced`);
      return { type: 'on', ratio: 1, followsParent: true };
  }
}
