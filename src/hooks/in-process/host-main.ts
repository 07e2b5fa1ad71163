/** The process of threads (see `packages/script-threads`), a program of its own where the operator is built. */
import '@addon-operator/script-threads/host-main';
