/** Commands of the page about delivery that `test/docs/delivery-commands.test.ts` runs with a registry, in this order. */
export const DELIVERY_COMMANDS: readonly string[] = [
  'delivery-registry',
  'delivery-push',
  'delivery-sources',
  'delivery-sandbox',
  'delivery-installed',
  'delivery-update',
  'delivery-rollback',
];
