/** Module names that hooks and extensions may import from any directory, with their locations. */
export const SDK_MODULES: Readonly<Record<string, string>> = {
  'addon-operator/sdk': import.meta.resolve('@addon-operator/sdk'),
  'addon-operator/sdk/testing': import.meta.resolve('@addon-operator/sdk/testing'),
};
