import { systemClock } from '@addon-operator/base/clock';
import { failureText, readTestFile, runCase, type StepFacts } from '@addon-operator/hook-test';

const content = `hook: hooks/greet.sh
cases:
- name: greets every Secret
  steps:
  - run: beforeHelm
    expect:
      contexts: [{binding: beforeHelm}]
      output: {$contains: "hello, tls"}
`;
const { file } = readTestFile('greet.hook-test.yaml', content);

const facts: StepFacts = {
  runs: [
    {
      binding: 'beforeHelm',
      contexts: [{ binding: 'beforeHelm', snapshots: {} }],
      operations: [],
      metrics: [],
      output: [{ stream: 'stdout', level: 'info', text: 'hello, nobody' }],
    },
  ],
  changes: [],
  errors: [],
  requests: [],
};
for (const test of file.cases) {
  const result = await runCase(test, {
    open: () =>
      Promise.resolve({
        perform: () => Promise.resolve(facts),
        object: () => Promise.resolve(undefined),
        values: () => ({}),
        configValues: () => ({}),
        pending: () => [],
        replay: () => Promise.resolve({ requests: [] }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    jq: () => Promise.resolve([]),
    clock: systemClock,
    signal: new AbortController().signal,
  });
  console.log(`${test.name}: ${result.result}`);
  if (result.result === 'failed') console.log(failureText(result.failure));
}
