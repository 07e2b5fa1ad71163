import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy', 'deploy-interrupted', 'uninstall', 'records'], ['3.19.5']);
