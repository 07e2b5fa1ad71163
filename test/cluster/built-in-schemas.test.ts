import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { isObject } from '@addon-operator/json';
import { expect, test } from 'vitest';
import * as data from '../../packages/kube-sandbox/src/built-in-data.ts';
import { BUILT_IN_KINDS } from '../../packages/kube-sandbox/src/kinds.ts';
import { dataModule, goTypes, joinSchemas } from '../../packages/kube-sandbox/test/generate-schemas.ts';
import { goSources } from '../../packages/kube-sandbox/test/go-sources.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { KUBERNETES_VERSION } from '../support/control-plane/go-programs.ts';
import { rawClient } from './differential/raw-client.ts';

const FILE = join(import.meta.dirname, '../../packages/kube-sandbox/src/built-in-data.ts');

function read(base64: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(base64, 'base64')).toString('utf8'));
}

describeCluster('the schemas of built-in kinds in the sandbox', (cluster) => {
  test('are those that the pinned API server publishes', { timeout: 60_000 }, async () => {
    const client = rawClient(cluster().access);
    const paths = BUILT_IN_KINDS.map(({ group, version }) =>
      group === '' ? `api/${version}` : `apis/${group}/${version}`,
    );
    const documents: Record<string, unknown>[] = [];
    for (const path of new Set(paths)) {
      const { body } = await client({ method: 'GET', path: `/openapi/v3/${path}` });
      if (isObject(body)) documents.push(body);
    }
    const published = joinSchemas(documents);
    const types = goTypes(goSources(KUBERNETES_VERSION, Object.keys(published.schemas)), published.schemas);
    // What is written here counts in the next run.
    if (process.env['UPDATE_SCHEMAS'] === '1')
      writeFileSync(FILE, dataModule(KUBERNETES_VERSION, published, types));
    expect(read(data.BUILT_IN_SCHEMAS)).toEqual(published.schemas);
    expect(read(data.DESCRIPTIONS)).toEqual(published.descriptions);
    expect(read(data.GO_TYPES)).toEqual(types);
  });
});
