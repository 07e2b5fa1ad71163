// Loaded before the operator: SIGUSR2 ends the recording of runs, and the next one begins it again. Each is acknowledged by
// a log record. The API shows no new runs in between.
import { Journal } from '../src/journal/journal.ts';

type Methods = Pick<Journal, 'begin' | 'beginHook' | 'print' | 'noteHook' | 'end'>;

const nothing = (): void => undefined;
// What follows reads no more of a run than this.
const emptyRun: Methods['begin'] = ({ queue }) =>
  ({ queue, phases: [] }) as unknown as ReturnType<Methods['begin']>;
const STUBS: Methods = {
  begin: emptyRun,
  beginHook: emptyRun,
  print: nothing,
  noteHook: nothing,
  end: nothing,
};
const own = Object.getOwnPropertyDescriptors(Journal.prototype);
let isOn = true;
process.on('SIGUSR2', () => {
  isOn = !isOn;
  if (isOn)
    for (const [name, method] of Object.entries(own)) Object.defineProperty(Journal.prototype, name, method);
  else Object.assign(Journal.prototype, STUBS);
  process.stdout.write(`${JSON.stringify({ msg: isOn ? 'journal on' : 'journal off' })}\n`);
});
