import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['uninstall', 'records'], ['3.19.5']);
