import { StatusError } from './status-error.ts';

/** The shape in which a client wants objects and lists. */
export type Representation = 'object' | 'table' | 'metadata';

export interface Negotiated {
  readonly representation: Representation;
  /** Content type of the response. */
  readonly contentType: string;
}

const PLAIN: Negotiated = { representation: 'object', contentType: 'application/json' };

/**
 * The first representation of an Accept header that the sandbox can give.
 *
 * @throws StatusError 406
 */
export function negotiate(accept: string): Negotiated {
  if (accept.trim() === '') return PLAIN;
  for (const clause of accept.split(',')) {
    const [mediaType = '', ...parameters] = clause.split(';').map((part) => part.trim());
    if (mediaType === '*/*' || mediaType === 'application/*') return PLAIN;
    if (mediaType !== 'application/json') continue;
    const values = new Map(parameters.map((parameter) => splitAtEquals(parameter)));
    const shape = values.get('as');
    if (shape === undefined) return PLAIN;
    if (values.get('g') !== 'meta.k8s.io') continue;
    if (shape === 'Table' && values.get('v') === 'v1')
      return { representation: 'table', contentType: 'application/json' };
    if (shape === 'PartialObjectMetadata' || shape === 'PartialObjectMetadataList')
      return { representation: 'metadata', contentType: 'application/json' };
  }
  throw notAcceptable();
}

function splitAtEquals(parameter: string): readonly [string, string] {
  const [name = '', value = ''] = parameter.split('=');
  return [name, value];
}

function notAcceptable(): StatusError {
  const message = 'only the following media types are accepted: application/json';
  return new StatusError(406, 'NotAcceptable', message);
}

/** Whether the client takes aggregated discovery documents of version 2. */
export function acceptsAggregatedDiscovery(accept: string): boolean {
  return accept.split(',').some((clause) => {
    const parameters = clause.split(';').map((part) => part.trim());
    return ['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList'].every((wanted) =>
      parameters.includes(wanted),
    );
  });
}
