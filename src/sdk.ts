/** `addon-operator/sdk`: the name under which files of users import `packages/sdk`. */
export * from '@addon-operator/sdk';
