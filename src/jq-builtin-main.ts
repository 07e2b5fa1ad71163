/** The program of the built-in jq engine (see `packages/jq`), a program of its own where the operator is built. */
import '@addon-operator/jq/engines/jq-builtin-main';
