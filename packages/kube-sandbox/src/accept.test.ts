import { expect, test } from 'vitest';
import { acceptsAggregatedDiscovery, negotiate } from './accept.ts';
import { StatusError } from './status-error.ts';

test.each([
  ['', 'object'],
  ['*/*', 'object'],
  ['application/json', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'object'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'table'],
  ['application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json', 'object'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'metadata'],
  ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'metadata'],
  ['application/json;as=Table;v=v1;g=other,application/json', 'object'],
])('"%s" selects the representation %s', (accept, representation) => {
  expect(negotiate(accept)).toEqual({ representation, contentType: 'application/json' });
});

test.each([
  'application/vnd.kubernetes.protobuf',
  'text/html',
  'application/json;as=Table;v=v9;g=meta.k8s.io',
])('"%s" is not acceptable', (accept) => {
  expect(() => negotiate(accept)).toThrow(StatusError);
});

test('aggregated discovery is taken in version 2 alone', () => {
  const of = (version: string): string =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  expect(acceptsAggregatedDiscovery(`${of('v2')},${of('v2beta1')},application/json`)).toBe(true);
  expect(acceptsAggregatedDiscovery(`${of('v2beta1')},application/json`)).toBe(false);
  expect(acceptsAggregatedDiscovery('application/json')).toBe(false);
});
