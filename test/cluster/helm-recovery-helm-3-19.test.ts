import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy', 'uninstall', 'records'], ['3.19.5']);
