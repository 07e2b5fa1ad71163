/** The launcher program (see `packages/process`), a program of its own where the operator is built. */
import '@addon-operator/process/launcher-main';
