import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['uninstall'], ['3.17.3']);
