import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { createLogger } from '@addon-operator/logging/json-logger';
import { LogTail } from '@addon-operator/logging/log-tail';
import { observeLog } from '@addon-operator/logging/observe-log';
import { redactedLog } from '@addon-operator/logging/redacted-log';
import { stdoutLogOutput } from '@addon-operator/logging/stdout-log-output';
import { Redactor } from '@addon-operator/masking/redactor';

const output = stdoutLogOutput(systemClock);
const root = createLogger({ level: 'info', type: 'json', hasTime: false, clock: systemClock, output });
const tail = new LogTail(systemClock, () => root.level);
const redactor = new Redactor();
const log = redactedLog(
  observeLog(root, (record) => tail.add(record)),
  redactor,
);

const shop = log.child({ shop: 'main' });
redactor.add('token-4711');
shop.info({ url: 'https://token-4711@host' }, 'orders are read');
shop.debug({}, 'below the level');
root.setLevel('debug');
shop.error(
  { error: new OperatorError('CONFIG_INVALID', 'there is no price for token-4711') },
  'order refused',
);

await output.close();
for (const { level, message } of tail.recent) console.log(`${level}: ${message}`);
