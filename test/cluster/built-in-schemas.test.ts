import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { isObject } from '@addon-operator/json';
import { expect, test } from 'vitest';
import * as data from '../../packages/kube-sandbox/src/built-in-data.ts';
import {
  builtInKinds,
  dataModule,
  goTypes,
  joinSchemas,
  protobufFields,
  SERVED_PATHS,
} from '../../packages/kube-sandbox/test/generate-schemas.ts';
import { goSources } from '../../packages/kube-sandbox/test/go-sources.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { KUBERNETES_VERSION } from '../support/control-plane/go-programs.ts';
import { rawClient } from './differential/raw-client.ts';

const FILE = join(import.meta.dirname, '../../packages/kube-sandbox/src/built-in-data.ts');

function unpacked(base64: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(base64, 'base64')).toString('utf8'));
}

describeCluster('the schemas of built-in kinds in the sandbox', (cluster) => {
  test('are those that the pinned API server publishes', { timeout: 60_000 }, async () => {
    const client = rawClient(cluster().access);
    const read = async (path: string): Promise<Record<string, unknown>> => {
      const { body } = await client({ method: 'GET', path });
      return isObject(body) ? body : {};
    };
    const documents = await Promise.all(SERVED_PATHS.map((path) => read(`/openapi/v3/${path}`)));
    const lists = await Promise.all(SERVED_PATHS.map((path) => read(`/${path}`)));
    const published = joinSchemas(documents);
    const sources = goSources(KUBERNETES_VERSION, Object.keys(published.schemas));
    const current = {
      ...published,
      kinds: builtInKinds(lists),
      goTypes: goTypes(sources, published.schemas),
      protobufFields: protobufFields(sources),
    };
    // What is written here counts in the next run.
    if (process.env['UPDATE_SCHEMAS'] === '1') writeFileSync(FILE, dataModule(KUBERNETES_VERSION, current));
    expect(unpacked(data.BUILT_IN_SCHEMAS)).toEqual(current.schemas);
    expect(unpacked(data.KINDS)).toEqual(current.kinds);
    expect(unpacked(data.GO_TYPES)).toEqual(current.goTypes);
    expect(unpacked(data.PROTOBUF_FIELDS)).toEqual(current.protobufFields);
    expect(unpacked(data.DESCRIPTIONS)).toEqual(current.descriptions);
  });
});
