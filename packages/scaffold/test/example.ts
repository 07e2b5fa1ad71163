import { newHook } from '@addon-operator/scaffold';

const [hook, test] = newHook({
  path: '/work/modules/030-dns/hooks/records.sh',
  on: 'schedule:@hourly',
});
console.log(hook?.path);
console.log(test?.text);
