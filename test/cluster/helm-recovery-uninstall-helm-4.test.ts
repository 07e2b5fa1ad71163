import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['uninstall'], ['4.1.4']);
