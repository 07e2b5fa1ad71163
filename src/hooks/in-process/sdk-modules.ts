/** What files of hooks and extensions import wherever they lie, and where it is. */
export const SDK_MODULES: Readonly<Record<string, string>> = {
  'addon-operator/sdk': import.meta.resolve('@addon-operator/sdk'),
  'addon-operator/sdk/testing': import.meta.resolve('@addon-operator/sdk/testing'),
};
