import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const POD = {
  kind: 'Pod',
  metadata: { name: 'web-1', labels: { tier: 'front', app: 'web' }, annotations: { note: 'x' } },
  spec: {
    replicas: 2,
    containers: [
      { name: 'main', image: 'nginx:1.27', ports: [{ containerPort: 80 }] },
      { name: 'side', image: 'envoy:3', env: null },
    ],
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
  data: { password: 'Z3LDvMOfZQ==' },
};

/** The response of jq 1.8.2 to a program and an input. */
export interface JqResponse {
  readonly program: string;
  /** JSON text. */
  readonly input: string;
  /** JSON text of the array of outputs, or of an object with the `error`. */
  readonly response: string;
}

/** The lines of `responses.tsv`. */
export function readResponses(): readonly JqResponse[] {
  return readFileSync(join(import.meta.dirname, 'responses.tsv'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [program = '', input = '', response = ''] = line.split('\t');
      return { program, input: input === 'POD' ? JSON.stringify(POD) : input, response };
    });
}
