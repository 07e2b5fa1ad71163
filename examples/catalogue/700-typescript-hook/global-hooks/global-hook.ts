import { defineHook } from 'addon-operator/sdk';

export default defineHook({ onStartup: 10 }, ({ log }) => {
  log.info('Hello from a global hook in TypeScript');
});
