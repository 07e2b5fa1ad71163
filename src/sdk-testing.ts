/** `addon-operator/sdk/testing`: the name under which tests of users import the test helpers of `packages/sdk`. */
export * from '@addon-operator/sdk/testing';
