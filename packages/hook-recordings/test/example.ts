import { systemClock } from '@addon-operator/base/clock';
import { Redactor } from '@addon-operator/base/redactor';
import { readRecording } from '@addon-operator/hook-recordings';
import { Recorder } from '@addon-operator/hook-recordings/recorder';

const outputs = {
  configValuesPatch: '',
  valuesPatch: '[{"op": "add", "path": "/web/password", "value": "hunter22"}]',
  metrics: '',
  kubernetesPatch: '',
  admissionResponse: '',
  conversionResponse: '',
};
const redactor = new Redactor();
redactor.add('hunter22');
const recorder = new Recorder({ version: '1.0.0', clock: systemClock, redactor });
const stop = new AbortController();
const sink = {
  unsentBytes: 0,
  write: (line: string) => {
    const { recording } = JSON.parse(line) as { recording?: object };
    if (recording === undefined) return;
    const { hook, binding, contexts, outputs: written } = readRecording('here', JSON.stringify(recording));
    console.log(hook, binding, contexts);
    console.log(written?.valuesPatch);
  },
};
const serving = recorder.serve(sink, { hooks: [], hasSecrets: false }, stop.signal);

const run = {
  hook: 'hooks/login.sh',
  module: 'web',
  config: {},
  env: ['PATH'],
  contexts: '[{"binding": "beforeHelm"}]',
  values: '{"web": {"password": "hunter22"}}',
  configValues: '{}',
};
await recorder.record(run, () => Promise.resolve({ outputs }), stop.signal);
stop.abort();
await serving;
