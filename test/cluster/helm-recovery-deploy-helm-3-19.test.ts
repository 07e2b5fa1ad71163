import { describeRecovery } from './helm-recovery-suite.ts';

describeRecovery(['deploy', 'deploy-interrupted'], ['3.19.5']);
